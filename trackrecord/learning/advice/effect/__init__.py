"""Measure whether advice helps: tasks that were given it beside tasks that were not."""
