"""Writing the cache in Redis, so that a prompt waits for nothing."""
