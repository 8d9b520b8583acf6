"""Attempts at tasks, and the errors of tasks in flight."""
