"""Recognising strategies in the text of an outcome."""
