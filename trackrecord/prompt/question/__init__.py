"""The question for a prompt, and its rules."""
