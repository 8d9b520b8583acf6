"""One word for what several agents' tools do, so that what is learnt from one helps the others.

`Edit` of Claude Code, `apply_patch` of Codex and `edit` of opencode are "edit" on record; the agent
that asks is told of its own tool. The words are edit, write, read, search (in files), shell,
delegate (to a sub-agent), plan, fetch (a page) and web_search. A tool that no agent declares keeps
its name.
"""

from collections.abc import Mapping
from functools import cache

from .register import known_agents


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
