"""Routes that take what is to be recorded: traces, scores and hooks."""
