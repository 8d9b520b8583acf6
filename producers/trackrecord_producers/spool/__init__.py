"""The spool: what waits on disk while Redis is away, and the way from there to the stream."""
