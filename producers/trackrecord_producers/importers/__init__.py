"""Recorded outcomes, read from files and pipes."""
