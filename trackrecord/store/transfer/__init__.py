"""A backup of the whole store, and a project as JSON Lines out and in again."""
