"""What an agent's process does at prompt time: it reads Redis, and never waits long."""
