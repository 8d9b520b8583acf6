"""Words, languages and texts that every subject shares."""
