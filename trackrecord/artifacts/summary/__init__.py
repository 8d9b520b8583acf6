"""Summaries of oversized outputs, by the kind of their content."""
