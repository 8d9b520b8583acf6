"""The capture: from what agents leave behind (hooks, transcripts, traces) to outcomes.

Each source has an adapter that reads its runs as `AgentRun`; everything after that is the same for
all of them: the verdict, the names of tools, redaction, and the outcome that is published.
"""
