"""Candidates: pieces that compete for a place in a prompt, ranked, and chosen under a budget.

Pure functions over frozen types: no I/O, no clock, and nothing heavy to import.
"""
