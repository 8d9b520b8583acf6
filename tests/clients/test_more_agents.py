"""Real agents whose recordings are read: the same runs from each of them, live or imported."""

import pytest

from tests.clients.model_stub import playing
from tests.clients.more_agents import MORE_AGENTS
from tests.clients.on_record import until
from tests.clients.real_agents import work
from tests.clients.stories import stories
from tests.clients.test_real_agents import expected, facts, grounds
from trackrecord_capture.sources.register import agent_of

pytestmark = pytest.mark.timeout(600)


@pytest.mark.parametrize("story_name", ["mended", "never-mended", "checked-too-early"])
@pytest.mark.parametrize("agent_name", sorted(MORE_AGENTS))
def test_a_story(agent_name, story_name, live, later, workplace):
    """Its calls and its verdict; where hooks report it, the same as where it is imported."""
    agent = MORE_AGENTS[agent_name]
    if not agent.program().is_file():
        pytest.skip(f"{agent_name}: `make clients` fetches it")
    project = f"{agent_name}-{story_name}"
    place = workplace(project)
    story = stories(place.folder)[story_name]
    with playing(story.script) as model:
        place = place._replace(model=model.url)
        printed = work(agent, place, story.asked[0], again=False, interrupt_at=None)
    later("import", agent_name)
    imported = later.runs(project)
    assert facts(agent, imported) == expected(agent, story), printed

    if agent_of(agent_name).hooks is not None:
        assert until(lambda: grounds(live.runs(project)) == grounds(imported))
        assert facts(agent, live.runs(project)) == expected(agent, story)
        fired = {path.name for path in (live.home / "agents" / "fired").iterdir()}
        assert fired >= {f"{agent_name}.{event}" for event in agent.fires}
    live("import", agent_name)
    again = live.runs(project)
    assert facts(agent, again) == expected(agent, story)
    assert grounds(again) == grounds(imported)
