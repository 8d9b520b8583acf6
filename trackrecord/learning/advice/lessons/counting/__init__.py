"""Counts for each kind of lesson."""
