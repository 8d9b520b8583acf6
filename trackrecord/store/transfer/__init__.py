"""Moving a whole store to another database, and a project as JSON Lines out and in again."""
