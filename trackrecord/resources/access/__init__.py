"""What a call opens to answer: the store of a project, Redis, and the things that ids stand for."""
