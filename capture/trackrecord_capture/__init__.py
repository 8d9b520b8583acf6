"""The capture: turns hooks, transcripts and traces of agents into outcomes.

Each source has an adapter that reads its runs as `AgentRun`; everything after that is the same for
all of them: the verdict, the names of tools, redaction, and the outcome that is published.
"""
