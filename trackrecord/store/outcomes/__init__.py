"""Projects and outcomes on record: the ground floor of the store."""
