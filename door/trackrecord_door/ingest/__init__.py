"""What is posted to the front door to be recorded: traces, scores and hooks."""
