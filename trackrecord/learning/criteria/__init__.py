"""Criteria: the weight of each, and its explanation."""
