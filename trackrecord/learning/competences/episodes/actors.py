"""Actors: who made a call of a tool, apart from other agents, which have names."""

from typing import Final

AGENT: Final = "agent"
# The other side of a conversation, in its own systems.
USER: Final = "user"
