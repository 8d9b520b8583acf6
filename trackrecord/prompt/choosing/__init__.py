"""Which entries of the documents have to do with a task, and how far."""
