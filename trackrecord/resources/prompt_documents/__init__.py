"""The documents that prompts are made of, built from what is on record, and cached."""
