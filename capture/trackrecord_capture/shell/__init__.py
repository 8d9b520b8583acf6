"""Command lines: their names, and what they verify, change and commit."""
