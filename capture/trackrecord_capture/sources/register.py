"""The coding agents that are known, and one word for what the tools of several of them do.

Each agent has a package beside this module: one that is put here is found by every command, without
being named anywhere else.

What is learnt from one agent helps the others: `Edit` of Claude Code, `apply_patch` of Codex and
`edit` of opencode are "edit" on record, and who asks is told of its own tool. The words are edit,
write, read, search (in files), shell, delegate (to a sub-agent), plan, fetch (a page) and
web_search. A tool that no agent declares keeps its name.
"""

import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from . import __name__ as package
from . import __path__ as folders

if TYPE_CHECKING:
    from pathlib import Path

    from .declaration import CodingAgent
    from .source import Log, Source


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


def find_logs(sources: "Iterable[Source]", paths: "Sequence[Path]") -> "list[tuple[Source, Log]]":
    """Return the logs in folders and files; one that several sources could read is the first's.

    Args:
        sources: the sources to look with; where they are several, a file that is named belongs to
            the agent that names its own files so.
        paths: the places; each source's own ones if there are none.
    """
    sources = list(sources)
    found: list[tuple[Source, Log]] = []
    for source in sources:
        places = list(paths or source.homes())
        if len(sources) > 1:
            places = [each for each in places if each.is_dir() or each.match(source.pattern)]
        claimed = {log.path for _, log in found}
        found += [(source, log) for log in source.logs(places) if log.path not in claimed]
    return found


@cache
def tool_words() -> dict[str, Mapping[str, str]]:
    """Return the words for each agent's tools, by the agent's name and its names for them."""
    return {agent.name: agent.tools for agent in known_agents()}


@cache
def own_tool_names() -> dict[str, dict[str, str]]:
    """Return what each agent calls its tools, by the agent's name and the words for them."""
    return {agent: _own_names(tools) for agent, tools in tool_words().items()}


def _own_names(tools: Mapping[str, str]) -> dict[str, str]:
    own: dict[str, str] = {}
    for name, word in tools.items():
        own.setdefault(word, name)
    if "edit" in own:  # a tool for patches makes new files, too
        own.setdefault("write", own["edit"])
    return own
