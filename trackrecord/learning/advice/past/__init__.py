"""Past tasks: how those that are like a task went, and which procedure they speak for."""
