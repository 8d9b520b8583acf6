"""Checks: that servers can do what workers need, and that a process is well."""
