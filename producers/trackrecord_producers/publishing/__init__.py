"""Publishing: the calls that report outcomes, memories and feedback, and never wait."""
