"""Reading at prompt time in an agent's process: from Redis, never waiting long."""
