"""Lessons: facts counted from the calls of a project's runs, in the order of how far to trust them."""
