"""Redis: how it is reached, what is kept in it under which names, and what its users may do."""
