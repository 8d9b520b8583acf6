"""From the agent's threads to Redis: the queue, the thread that empties it, and the stream."""
