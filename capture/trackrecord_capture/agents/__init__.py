"""Coding agents on this machine: install, remove and check the hooks that report their runs."""
