"""Criteria on record."""
