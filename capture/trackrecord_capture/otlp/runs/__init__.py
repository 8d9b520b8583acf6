"""From the facts of a trace to the runs of agents: their calls, their ends and their scores."""
