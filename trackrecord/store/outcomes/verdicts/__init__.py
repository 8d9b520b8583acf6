"""Sums of verdicts."""
