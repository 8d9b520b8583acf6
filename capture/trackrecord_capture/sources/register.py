"""The coding agents that are known: one package beside this module for each.

A package that is put here is found by every command, without being named anywhere else.
"""

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from . import __name__ as package
from . import __path__ as folders

if TYPE_CHECKING:
    from .declaration import CodingAgent
    from .source import Source


@cache
def agent_names() -> tuple[str, ...]:
    """Return the names of all agents, without importing what reads their sessions."""
    packages = (each.name for each in pkgutil.iter_modules(folders) if each.ispkg)
    return tuple(sorted(name.replace("_", "-") for name in packages))


@cache
def agent_of(name: str) -> "CodingAgent":
    """Return the agent of a name.

    Raises:
        KeyError: there is none.
    """
    if name not in agent_names():
        raise KeyError(name)
    agent: CodingAgent = import_module(f"{package}.{name.replace('-', '_')}").AGENT
    return agent


def known_agents() -> "tuple[CodingAgent, ...]":
    """Return all agents."""
    return tuple(map(agent_of, agent_names()))


def known_sources() -> "Mapping[str, Source]":
    """Return what reads each agent's sessions, by the agent's name.

    A file that several could read belongs to the first, so those that look for the most particular
    names come first.
    """
    agents = sorted(known_agents(), key=lambda agent: -len(agent.source.pattern.strip("*")))
    return {agent.name: agent.source for agent in agents}
