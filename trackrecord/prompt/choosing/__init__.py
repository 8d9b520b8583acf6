"""Choose the entries of the documents that are relevant to a task, with their relevance."""
