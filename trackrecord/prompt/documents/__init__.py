"""Cached documents of a project: the rankings and the advice, with their ready lines."""
