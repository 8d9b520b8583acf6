"""Recorded sessions as outcomes: what is new in each log is read, published and remembered."""
