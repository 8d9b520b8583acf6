"""Patterns on record."""
