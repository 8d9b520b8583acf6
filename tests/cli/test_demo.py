"""The demo, small: what it says was learnt is what was planted, and Ctrl-C ends it cleanly."""

import json
import os
import signal
import subprocess
import sys
from contextlib import redirect_stdout, suppress
from io import StringIO
from typing import Any

import psutil
import pytest

from tests.support.processes import until
from trackrecord_cli.main import run


@pytest.fixture(scope="module")
def document() -> Any:
    """Run a small demo through the real servers, once for all tests that only read its document."""
    out = StringIO()
    with redirect_stdout(out):
        assert run(["demo", "--outcomes", "4000", "--agents", "2", "--json"]) == 0
    return json.loads(out.getvalue())


def test_it_ends_with_learnt_beside_planted(document):
    """What was planted is found."""
    assert document["outcomes"] == 4000
    for each in document["strategies"] + document["procedures"]:
        assert each["learnt_rate"] == pytest.approx(each["planted_rate"], abs=0.12)
    states = {each["id"]: each["state"] for each in document["strategies"]}
    assert states["split-by-component"] == "proven"
    assert states["tests-in-separate-subtask"] == "anti-pattern"
    assert "AVOID: Split by file type" in document["prompt"]


def test_the_prompt_is_written_with_all_that_was_learnt(document):
    """Lessons stand in it, and a procedure that succeeds in a fifth of its tasks does not."""
    prompt = document["prompt"]
    assert "- `issue_refund` succeeded in" in prompt
    assert 'when "refund request": issue_refund [' not in prompt


@pytest.mark.faults
def test_ctrl_c_ends_the_demo_in_one_line(tmp_path):
    """A terminal sends it to the agents, too; none of them says anything, and none is left."""
    command = ["demo", "--agents", "2", "--outcomes", "1000000"]
    with (tmp_path / "err").open("wb") as err:
        demo = subprocess.Popen(
            [sys.executable, "-m", "trackrecord_cli", *command],
            stdout=subprocess.DEVNULL,
            stderr=err,
            start_new_session=True,
        )
        try:
            agents = agents_of(demo)
            os.killpg(demo.pid, signal.SIGINT)
            assert demo.wait(timeout=200) == 130
        finally:
            demo.kill()
            demo.wait()
    assert (tmp_path / "err").read_text().split("\n") == ["", "trackrecord: interrupted", ""]
    assert not [each for each in agents if each.is_running()]


def agents_of(demo: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Return the agents of a demo, once they are at work."""

    def found() -> list[psutil.Process]:
        found = []
        for each in psutil.Process(demo.pid).children():
            # What checks the servers is soon over.
            with suppress(psutil.NoSuchProcess):
                if "trackrecord_cli.demo.agent" in each.cmdline() and each.num_threads() > 1:
                    found.append(each)
        return found if len(found) == 2 else []

    return until(found)
