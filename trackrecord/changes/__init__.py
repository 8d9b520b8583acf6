"""Changes by a person or an agent, each in one transaction; the questions are in `queries`."""
