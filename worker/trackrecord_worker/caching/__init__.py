"""What a worker writes to the cache in Redis, so that a prompt waits for nothing."""
