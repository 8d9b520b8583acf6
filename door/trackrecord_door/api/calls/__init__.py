"""Calls that HTTP offers in its own way, where none of `trackrecord` fits as it is."""
