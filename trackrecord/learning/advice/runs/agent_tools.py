"""The tools of agents: what each of a project's agents has got, as far as its runs show.

Agents of one fleet share their tools, though none has used them all. Two agents are of different
kinds if one of them uses a tool that the other never does at the same kinds of task, and chance
hardly explains that: who works on something else needs other tools.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from ...competences.episodes.actors import USER
from .runs import NotedRun

# The agents with the most runs.
_MOST_AGENTS: Final = 20
# That an agent never used another one's tool is less probable by chance, over all tools.
_CHANCE: Final = 0.01
_SHELL: Final = "shell"
# Of a run of which nobody knows how it went, the kind is not known.
_UNKNOWN: Final = -1


def capability_of(tool: str) -> str:
    """Return the capability that a tool requires: with a shell, an agent has every program."""
    return _SHELL if tool.startswith(f"{_SHELL}:") else tool


def tools_of_agents(
    runs: Iterable[NotedRun], kind_of_runs: Mapping[int, int] | None = None
) -> dict[str, tuple[str, ...]]:
    """Return the tools of each agent, by its name: its own and those of the agents of its kind.

    Args:
        runs: the runs of a project.
        kind_of_runs: the kinds of task of those that are known, by the row of the outcome.
    """
    kinds = kind_of_runs or {}
    counts: Counter[str] = Counter()
    uses: defaultdict[str, Counter[str]] = defaultdict(Counter)
    used_at: defaultdict[str, defaultdict[int, list[set[str]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for run in runs:
        tools = {capability_of(step.tool) for step in run.steps if step.actor != USER}
        if tools:
            counts[run.source] += 1
            uses[run.source].update(tools)
            used_at[run.source][kinds.get(run.outcome, _UNKNOWN)].append(tools)
    agents = sorted(counts, key=lambda agent: (-counts[agent], agent))[:_MOST_AGENTS]
    level = _CHANCE / max(1, len(set().union(*uses.values())))

    def at_same(agent: str, other: str) -> tuple[Counter[str], int]:
        same = used_at[agent].keys() & used_at[other].keys()
        found = [tools for kind in same for tools in used_at[agent][kind]]
        return Counter(tool for tools in found for tool in tools), len(found)

    def differ(one: str, other: str) -> bool:
        mine, its = at_same(one, other), at_same(other, one)
        return min(_by_chance(*mine, *its), _by_chance(*its, *mine)) <= level

    return {
        agent: tuple(
            sorted(set().union(*(uses[each] for each in agents if not differ(agent, each))))
        )
        for agent in sorted(agents)
    }


def _by_chance(uses: Mapping[str, int], runs: int, others: Mapping[str, int], more: int) -> float:
    """Return how probable it is by lot that another agent's runs have no use of some tool."""
    most = max((count for tool, count in uses.items() if tool not in others), default=0)
    chance = 1.0
    for place in range(most):
        chance *= (runs - place) / (runs + more - place)
    return chance
