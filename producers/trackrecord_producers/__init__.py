"""The producers' side: reporting outcomes without ever hurting the agent that reports them.

An agent uses it through `trackrecord.publish`, `trackrecord.attempt` and their neighbours. Nothing
here raises into the agent, and nothing makes it wait for Redis, a disk or an import.
"""
