"""The calls for prompts; exposures and recalls are reported."""
