"""Patterns: evidence, maturity, anti-patterns, decisions by hand."""
