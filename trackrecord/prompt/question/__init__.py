"""What a prompt is asked for, and by which rules."""
