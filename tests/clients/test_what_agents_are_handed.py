"""Real agents get what their project knows; without a daemon they notice nothing of it."""

import json

import pytest

from tests.capture.conformance.conformance_stories import Edit, Shell
from tests.capture.conformance.conformance_stories import Say as Said
from tests.capture.test_hook_script import door
from tests.clients.model_stub import playing
from tests.clients.on_record import Trackrecord, until
from tests.clients.real_agents import AGENTS, missing, work
from tests.clients.recorded import record
from tests.clients.steps import Run, Say
from tests.clients.stories import Story, stories
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.settings.settings import load_settings

if missing():
    pytest.skip(f"{', '.join(missing())}: `make clients` fetches them", allow_module_level=True)

pytestmark = pytest.mark.timeout(600)
KNOWN = "The cart rounds to whole cents"
ABOUT = "Records of earlier runs of coding agents in the project"


def played(agent, place, story):
    """Have an agent play a story; return what it printed, and each request as one text."""
    with playing(story.script) as model:
        printed = work(
            agent,
            place._replace(model=model.url),
            story.asked[0],
            again=False,
            interrupt_at=None,
        )
    return printed, [json.dumps(each["body"]) for each in model.asked]


@pytest.mark.parametrize("agent_name", sorted(AGENTS))
def test_a_session_gets_what_its_project_knows(agent_name, live, workplace):
    """The model reads it once in each request, from the first one on."""
    project = f"{agent_name}-handed"
    place = workplace(project)
    live("memories", "add", KNOWN, "--project", project)
    until(lambda: KNOWN in live("rankings", "--project", project, "--format", "prompt"))
    printed, requests = played(AGENTS[agent_name], place, stories(place.folder)["mended"])
    told = [request.count(KNOWN) for request in requests if "pytest" in request]
    assert told, printed
    assert set(told) == {1}, printed


RED = Shell("pytest -q", 1, "FAILED test_cart.py::test_total\n1 failed in 0.02s")
GREEN = Shell("pytest -q", 0, "3 passed in 0.02s")
UNREADY = Shell(
    "pytest -q",
    4,
    "ImportError while loading conftest 'conftest.py'.\n"
    "E   ModuleNotFoundError: No module named 'ledger'",
)
ASKED = "Fix the failing test of the cart"
LOOKS = Story((ASKED,), {ASKED: (Run("ls"), Say("There are two files."))}, ())


@pytest.mark.parametrize("agent_name", sorted(AGENTS))
def test_a_session_is_told_what_its_tests_need_first(agent_name, live, workplace, tmp_path):
    """In earlier ones they failed until `make deps` had run."""
    place = workplace(f"{agent_name}-unready")
    for number in range(14):
        steps = (UNREADY, Shell("make deps"), GREEN) if number % 4 else (UNREADY,)
        prompt = f"Run the tests of part {number} and count them"
        record("claude-code", place, tmp_path / "told", prompt, *steps, Said("Done."))
    live("import", "claude-code")
    reader = RankingsReader(load_settings(home=live.home))
    assert until(
        lambda: bool((advice := reader.cached(place.folder.name).advice) and advice.standing)
    )
    printed, requests = played(AGENTS[agent_name], place, LOOKS)
    need = (
        "`pytest -q` ran in 10 of 10 calls after `make deps` in the same session, in 0 of 14 "
        "calls without."
    )
    told = [request.count(need) for request in requests if ASKED in request]
    assert told, printed
    assert set(told) == {1}, printed


def test_the_edits_of_two_agents_count_together(live, workplace, tmp_path):
    """Each agent is told of them in the name of its own tool."""
    place = workplace("edited-by-two")
    edit = Edit(str(place.folder / "cart.py"))
    for number in range(20):
        agent = ("claude-code", "codex")[number % 2]
        steps = (edit, GREEN) if number % 4 < 2 else (Shell("sed -i s/0/1/ cart.py"), RED)
        prompt = f"Fix the failing test of the cart number {number}"
        record(agent, place, tmp_path / "told", prompt, RED, *steps, Said("Done."))
    live("import", "claude-code")
    live("import", "codex")
    of_both = "10 of 20 succeeded: with {} 10 of 10, without 0 of 10"
    about = ("--project", place.folder.name, "--task", ASKED, "--format", "prompt")
    assert until(lambda: of_both.format("edit") in live("rankings", *about))
    for name, tool in (("claude-code", "Edit"), ("codex", "apply_patch")):
        printed, requests = played(AGENTS[name], place, LOOKS)
        assert of_both.format(tool) in requests[-1], printed


@pytest.fixture
def away(home, person, settings):
    """A trackrecord that is installed and not up; removed again at the end."""
    trackrecord = Trackrecord(home, person, settings)
    trackrecord("install", "all")
    yield trackrecord
    trackrecord("uninstall")


@pytest.mark.parametrize("agent_name", sorted(AGENTS))
def test_without_a_daemon_an_agent_goes_on_as_ever(agent_name, away, person, workplace):
    """Nothing is handed to it, and no hook fails."""
    place = workplace(f"{agent_name}-alone")
    printed, requests = played(AGENTS[agent_name], place, stories(place.folder)["mended"])
    assert requests
    assert not any(ABOUT in request for request in requests)
    assert "ECONNREFUSED" not in printed
    failed = [
        path
        for path in (person / ".claude").rglob("*.jsonl")
        if "hook_non_blocking_error" in path.read_text(errors="replace")
    ]
    assert not failed
    assert list((away.home / "hooks").iterdir())


@pytest.mark.parametrize("agent_name", sorted(AGENTS))
def test_a_front_door_that_hangs_holds_no_agent(agent_name, away, workplace):
    """It takes the questions of the hooks and answers none: the agent works, and its turn ends."""
    place = workplace(f"{agent_name}-held")
    with door(away.home, b"{}", pauses=True) as asked:
        printed, requests = played(AGENTS[agent_name], place, stories(place.folder)["mended"])
        assert asked, printed
    assert requests
    assert (place.folder / "cart.py").is_file(), printed
    assert not any(ABOUT in request for request in requests)
