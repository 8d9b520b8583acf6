"""Command lines: which command one is about, what it verifies, changes and commits."""
