"""Pictures on the pages, as SVG: plots, time lines and graphs; pure functions."""
