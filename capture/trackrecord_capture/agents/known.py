"""The coding agents that can be made to report by themselves, by name."""

from collections.abc import Mapping

from ..sources.register import known_agents
from .plan import Installation

AGENTS: Mapping[str, Installation] = {
    each.name: each.hooks for each in known_agents() if each.hooks is not None
}
