"""Commands that score and evaluate."""
