"""Real agents get a summary in place of an oversized output, and read the whole back."""

import json
import re
import subprocess

import pytest

from tests.clients.more_agents import MORE_AGENTS
from tests.clients.real_agents import AGENTS, PATIENCE_S, played, variables_of
from tests.clients.steps import Run, Say

pytestmark = pytest.mark.timeout(600)
REPLACING = {
    name: {**AGENTS, **MORE_AGENTS}[name] for name in ("claude-code", "cline", "opencode", "pi")
}
PROMPT = "Look into the log of the shop that was written last night"
# More than 10,000 characters, and less than what the agents cut themselves.
FLOOD = "for n in $(seq 300); do echo 12:00:$n INFO step $n of the shop is done; done; echo NO-END"
READ_BACK = "artifacts get --project {} "


@pytest.fixture
def summarised(live):
    """Oversized outputs are replaced, and are not any more at the end."""
    live("install", "all", "--summarise")
    yield live
    live("install", "all", "--no-summarise")


def flooded(agent, place, *more):
    """Have an agent flood its prompt; return what it printed, and each request after that."""
    script = {PROMPT: (Run(FLOOD), *more, Say("I have seen it."))}
    printed, asked = played(agent, place, script, PROMPT)
    return printed, [each for each in asked if "seq 300" in each]


@pytest.mark.parametrize("agent_name", REPLACING)
def test_an_oversized_output_is_replaced_by_its_summary(agent_name, summarised, workplace):
    """The model reads the summary and the command; the command gives the whole."""
    project = f"{agent_name}-flooded"
    printed, requests = flooded(REPLACING[agent_name], workplace(project))
    assert requests, printed
    assert not any("step 17 of the shop" in request for request in requests), printed
    assert any(READ_BACK.format(project) in request for request in requests), printed
    (kept,) = json.loads(summarised("artifacts", "list", "--project", project, "--json"))
    assert kept["id"] in requests[-1]
    assert kept["tool"].startswith("shell:")
    assert kept["task_id"].startswith("task:")
    command = re.search("Read it: (.*) --lines 1:100 ", kept["summary"])[1]
    whole = subprocess.run(
        ["/bin/sh", "-c", command.replace(" ID", f" {kept['id']}")],
        env=variables_of(summarised.person),
        capture_output=True,
        check=True,
        text=True,
        timeout=PATIENCE_S,
    ).stdout
    assert "step 17 of the shop" in whole
    assert whole.rstrip().endswith("NO-END")


@pytest.mark.parametrize("agent_name", REPLACING)
def test_what_is_read_back_is_not_replaced_again(agent_name, summarised, workplace):
    """Although it is as large as it was."""
    project = f"{agent_name}-reading"
    asking = f"TRACKRECORD_HOME={summarised.home} trackrecord artifacts"
    found = f"$({asking} list --project {project} --json | grep -o '[0-9a-f]\\{{64\\}}' | head -1)"
    reading = Run(f"{asking} get --project {project} {found}")
    printed, requests = flooded(REPLACING[agent_name], workplace(project), reading)
    assert "step 17 of the shop" in requests[-1], printed
    assert len(json.loads(summarised("artifacts", "list", "--project", project, "--json"))) == 1
