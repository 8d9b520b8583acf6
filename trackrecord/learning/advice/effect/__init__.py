"""Measure whether advice helps: tasks with it compared with tasks without."""
