"""Real agents get what their project knows; without a daemon they notice nothing of it."""

import pytest

from tests.capture.test_hook_script import door
from tests.clients.on_record import Trackrecord, until
from tests.clients.real_agents import AGENTS, played
from tests.clients.stories import stories

pytestmark = pytest.mark.timeout(600)
KNOWN = "The cart rounds to whole cents"
ABOUT = "Records of earlier runs of coding agents in the project"


def mended(agent_name, place):
    """Have an agent play a story; return what it printed, and each request as one text."""
    story = stories(place.folder)["mended"]
    return played(AGENTS[agent_name], place, story.script, story.asked[0])


@pytest.mark.parametrize("agent_name", sorted(AGENTS))
def test_a_session_gets_what_its_project_knows(agent_name, live, workplace):
    """The model reads it once in each request, from the first one on."""
    project = f"{agent_name}-handed"
    place = workplace(project)
    live("memories", "add", KNOWN, "--project", project)
    until(lambda: KNOWN in live("rankings", "--project", project, "--format", "prompt"))
    printed, requests = mended(agent_name, place)
    told = [request.count(KNOWN) for request in requests if "pytest" in request]
    assert told, printed
    assert set(told) == {1}, printed


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
    printed, requests = mended(agent_name, place)
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
        printed, requests = mended(agent_name, place)
        assert asked, printed
    assert requests
    assert (place.folder / "cart.py").is_file(), printed
    assert not any(ABOUT in request for request in requests)
