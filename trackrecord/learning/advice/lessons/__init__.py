"""Lessons: facts that are counted from the calls of a project's runs."""
