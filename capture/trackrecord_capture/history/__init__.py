"""Recorded sessions as outcomes: the new part of each log is read, published and remembered."""
