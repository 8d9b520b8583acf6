"""Commands that report outcomes, and what else agents tell."""
