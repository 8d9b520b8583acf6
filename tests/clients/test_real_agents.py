"""Real agents against a stand-in for their models: one outcome, whichever way it comes."""

import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.clients.model_stub import playing
from tests.clients.on_record import told, unpublished_traces, until
from tests.clients.real_agents import AGENTS, Agent, Workplace, variables_of, work
from tests.clients.stories import (
    DELEGATION,
    ERRAND,
    MENDING,
    RUNNING,
    SECRETS,
    Expected,
    Story,
    stories,
)
from tests.support.own_token import token_of
from trackrecord_door.access.tokens import reporting_token

pytestmark = pytest.mark.timeout(900)
STORIES = sorted(stories(Path()))
# With the agent's own traces and logs on at the same time.
TRACED = ("mended", "sub-agent", "told-that-it-is-wrong")


def play(agent: Agent, story: Story, place: Workplace) -> None:
    """Have an agent play a story; its output is beside its folder."""
    for number, prompt in enumerate(story.asked):
        is_interrupted = story.interrupted and number == 0
        running = place.folder / RUNNING if is_interrupted else None
        work(agent, place, prompt, again=number > 0, interrupt_at=running, signaled=story.stop)
        if story.by_hand and number == 0:
            environment = variables_of(place.home)
            subprocess.run(
                shlex.split(story.by_hand), cwd=place.folder, env=environment, check=True
            )


def expected(agent: Agent, story: Story) -> list[Expected]:
    """Return what must be on record, with the tools' names as this agent has them."""

    def named(one: Expected) -> Expected:
        calls = ((agent.tools.get(tool, tool), ok) for tool, ok in one.calls)
        asked = "" if one.asked in (ERRAND, MENDING) and agent.hides_errands else one.asked
        return one._replace(asked=asked, calls=tuple(calls))

    return sorted((named(one) for one in story.expected), key=repr)


def facts(agent: Agent, runs: list[dict[str, Any]]) -> list[Expected]:
    """Return what is on record, as stories tell it."""
    return sorted((told(run, agent.tools[DELEGATION]) for run in runs), key=repr)


def grounds(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the grounds of every run's verdict, by its outcome."""
    return {run["outcome_id"]: run["grounds"] for run in runs}


@pytest.mark.parametrize("traced", [False, True], ids=["", "traced"])
@pytest.mark.parametrize("name", STORIES)
@pytest.mark.parametrize("agent_name", sorted(AGENTS))
def test_a_story(agent_name, name, traced, live, later, port, workplace):
    """What was reported live is the same as what is imported later, and both together are one."""
    if traced and name not in TRACED:
        pytest.skip("told without traces")
    agent = AGENTS[agent_name]
    project = f"{agent_name}-{name}{'-traced' if traced else ''}"
    place = workplace(project)
    story = stories(place.folder)[name]
    wanted = expected(agent, story)
    with playing(story.script) as model:
        telemetry = f"http://127.0.0.1:{port}" if traced else ""
        token = reporting_token(token_of(live.home))
        place = place._replace(model=model.url, telemetry=telemetry, token=token)
        play(agent, story, place)
    later("import", agent.name)
    imported = later.runs(project)
    assert facts(agent, imported) == wanted

    # What is reported while a run goes on has no verdict yet.
    if traced:
        assert until(lambda: not unpublished_traces(live))
    until(lambda: grounds(live.runs(project)) == grounds(imported))
    reported = live.runs(project)
    assert facts(agent, reported) == wanted
    assert grounds(reported) == grounds(imported)

    live("import", agent.name)
    again = live.runs(project)
    assert facts(agent, again) == wanted
    assert grounds(again) == grounds(imported)
    if name == "secrets":
        assert not leaks(live.home) | leaks(later.home)


def leaks(home: Path) -> set[str]:
    """Return the names of files of a trackrecord that hold a secret in the clear."""
    files = [path for path in home.rglob("*") if path.is_file()]
    return {
        str(path) for path in files for secret in SECRETS if secret.encode() in path.read_bytes()
    }
