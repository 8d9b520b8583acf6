"""Projects: which folders and repositories belong to which."""
