"""Verdicts: their sums now, and at past moments."""
