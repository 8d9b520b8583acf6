"""Commands that score and measure."""
