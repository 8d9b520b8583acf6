"""The calls for prompts: what a task is handed is reported, as an exposure or a recall."""
