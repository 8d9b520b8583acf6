"""Evaluate advice on recorded runs: what would have been said, and whether it was right."""
