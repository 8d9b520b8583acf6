"""Runs: what advice is counted from, and which of them may be compared."""
