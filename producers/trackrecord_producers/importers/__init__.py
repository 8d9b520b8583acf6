"""Recorded runs as outcomes: one module for each format, and the `register` of them all.

An importer gives every run the same outcome_id whenever and from wherever it is read, so that
importing twice changes nothing. It invents nothing: fields that the recording lacks stay empty.
"""
