"""Real agents are told at a failure what earlier sessions learnt; the model reads it next."""

import pytest

from tests.clients.more_agents import MORE_AGENTS
from tests.clients.on_record import until
from tests.clients.real_agents import AGENTS, played
from tests.clients.steps import Run, Say, Write
from trackrecord.process.machines import this_machine
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.settings.settings import load_settings

pytestmark = pytest.mark.timeout(600)
PROMPT = "Run the tests of the shop and say how many there are"
# A launcher that is not there, and the line that runs.
FAILS, RUNS = "rye run pytest -q", "pytest -q"
HINT = "trackrecord: "


def session(agent, place, *steps):
    """Have an agent make calls; return what it printed, and each request as one text."""
    return played(agent, place, {PROMPT: (*steps, Say("There is one."))}, PROMPT)


@pytest.mark.parametrize("agent_name", [*sorted(AGENTS), "cline", "gemini-cli", "pi", "qwen-code"])
def test_the_hint_stands_in_the_next_request(agent_name, live, workplace):
    """Sessions learn that a launcher fails and what runs; the next one is told at its failure."""
    agent, project = {**AGENTS, **MORE_AGENTS}[agent_name], f"{agent_name}-hinted"
    place = workplace(project)
    (place.folder / "cart.py").write_text("def total(prices):\n    return sum(prices)\n")
    for _ in range(3):
        printed, requests = session(agent, place, Run(FAILS), Run(RUNS))
        assert any("rye run" in each for each in requests), printed
    reader = RankingsReader(load_settings(home=live.home))
    known = until(
        lambda: any(
            known.sessions >= 3 and known.remedy
            for known in [reader.moments(project).of("").failure(f"line {FAILS}", this_machine())]
            if known is not None
        )
    )
    assert known, reader.moments(project)
    printed, asked = session(agent, place, Run("ls"), Run(FAILS))
    requests = [each for each in asked if "rye run" in each]
    assert HINT in requests[-1], printed
    assert requests[-1].count(f"{HINT}`") == 1
    hint = requests[-1].partition(HINT)[2][:300]
    assert "`pytest -q`" in hint, hint
    assert "3" in hint
    # What was said is not learnt as the tool's own words.
    errors = [
        call["error"] or ""
        for run in live.runs(project)
        for call in run["calls"]
        if call["error"] is not None
    ]
    assert errors
    assert not any(HINT in each for each in errors)


@pytest.mark.parametrize("agent_name", [*sorted(AGENTS), "gemini-cli", "qwen-code"])
def test_a_session_is_told_what_most_of_them_run(agent_name, live, workplace):
    """In the first request that its model reads, unless its instructions name it."""
    agent, project = {**AGENTS, **MORE_AGENTS}[agent_name], f"{agent_name}-usual"
    place = workplace(project)
    (place.folder / "cart.py").write_text("def total(prices):\n    return sum(prices)\n")
    for _ in range(3):
        printed, requests = session(agent, place, Run(RUNS))
        assert requests, printed
    reader = RankingsReader(load_settings(home=live.home))

    def is_known():
        advice = reader.cached(project).advice
        return advice is not None and advice.usual

    assert until(is_known), printed
    said = "Ran here: tests `pytest -q` (in 3 of the last 3 sessions)."
    printed, requests = session(agent, place, Run("ls"))
    assert any(said in each for each in requests), printed
    (place.folder / "AGENTS.md").write_text("Run the tests with `pytest -q`.\n")
    printed, requests = session(agent, place, Run("ls"))
    assert requests, printed
    assert not any("Ran here" in each for each in requests), printed


@pytest.mark.parametrize("agent_name", ["claude-code", "codex"])
def test_a_turn_that_ends_unchecked_goes_on_once(agent_name, live, workplace):
    """Where sessions run the tests after such an edit; its model reads why, and may stop then."""
    agent, project = {**AGENTS, **MORE_AGENTS}[agent_name], f"{agent_name}-unchecked"
    place = workplace(project)
    (place.folder / "cart.py").write_text("def total(prices):\n    return sum(prices)\n")
    live("install", agent_name, "--remind")
    # Some refuse to write a file that is there and was not read.
    edits = [Write(place.folder / f"cart{number}.py", "TOTAL = 0\n") for number in range(7)]
    for edit in edits[:6]:
        printed, requests = session(agent, place, edit, Run(RUNS))
        assert requests, printed
    reader = RankingsReader(load_settings(home=live.home))
    assert until(lambda: "py" in reader.moments(project).of("").checked), printed
    printed, requests = session(agent, place, edits[6])
    said = "Nothing has checked the last edit (`cart6.py`); tests run with `pytest -q`"
    told = [each for each in requests if said in each]
    assert len(told) == 1, printed
    live("install", agent_name, "--no-remind")
