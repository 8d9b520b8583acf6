"""The programs in `examples`, run as they are against a real trackrecord: what became of each."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.examples.tried import EXAMPLES
from tests.support.processes import until


def test_each_example_is_on_the_page_and_is_run():
    """Whoever adds a program tells of it, and tests it."""
    programs = {
        path.relative_to(EXAMPLES).as_posix()
        for path in EXAMPLES.rglob("*")
        if path.is_file() and path.name != "README.md" and "__pycache__" not in path.parts
    }
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| \[([\w./]+)\]\(\1\)", page, re.MULTILINE)) == programs
    tests = Path(__file__).read_text(encoding="utf-8")
    assert [name for name in programs if f'"{name}"' not in tests] == []


def test_outcomes_of_a_loop_are_learnt_and_read_back(up):
    """What helps and what hurts is in the next prompt; what that task was handed is on record."""
    said = up.example(sys.executable, "report_outcomes.py", project="loop")
    assert said == "reported 40 tasks, dropped: nothing\n"

    def counts():
        patterns = up.asked("patterns", "list", project="loop") or []
        return {each["id"]: each["success_count"] + each["failure_count"] for each in patterns}

    until(lambda: sum(counts().values()) == 40)
    assert set(counts()) == {"split-by-component", "anti-split-by-file-type"}

    def prompt():
        """Return the prompt, once the cache in Redis has caught up."""
        text = up.example(sys.executable, "ask_before_a_task.py", project="loop")
        assert text.endswith("## Your task\n\nMend the nightly build\n")
        return text if "AVOID: Split by file type" in text else None

    assert "- Split by component [ESTABLISHED - 17 of 20 runs succeeded" in until(prompt)
    (task,) = until(lambda: up.asked("runs", "list", "--task", "build-4711", project="loop"))[:1]
    assert task["success"] is True
    until(lambda: up.asked("effect", project="loop")["tasks"]["given"] == 1)


def test_a_traced_agent_is_an_outcome(up):
    """With its tools in their order and the verdict of its evaluation."""
    assert up.example(sys.executable, "traced_agent.py", project="traced") == ""
    (run,) = until(lambda: up.asked("runs", "list", project="traced"))
    assert (run["source"], run["success"], run["captured_from"]) == ("mender", True, "traces")
    assert [call["tool"] for call in run["calls"]] == ["read_file", "edit_file"]


def test_a_shell_reports_and_is_told(up):
    """An outcome and an error of it, by entries of the stream; the next attempt hears of it."""
    _needs("redis-cli")
    said = up.example("sh", "from_a_shell.sh", project="shell")
    assert "timed out after 60 s" in said
    (run,) = until(lambda: up.asked("runs", "list", project="shell"))
    assert (run["task_id"], run["success"]) == ("build-4712", True)
    assert [each["content"] for each in up.asked("patterns", "list", project="shell")] == [
        "Split by component"
    ]


def _needs(program):
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"there is no {program} on the PATH")
    return found


def test_reports_and_questions_over_http(up):
    """By curl, with a token that may do no more than that: two outcomes, and a prompt."""
    _needs("curl")
    made = up.asked("token", "create", "--write", project="http")
    said = up.example("sh", "over_http.sh", up.url, made["token"], project="http")
    taken, prompt = map(json.loads, said.splitlines())
    assert len(taken["outcome_ids"]) == 2
    assert "prompt" in prompt
    runs = until(
        lambda: (
            len(up.asked("runs", "list", project="http") or []) == 2
            and up.asked("runs", "list", project="http")
        )
    )
    assert {run["task_id"]: run["success"] for run in runs} == {"build-1": True, "build-2": False}


def test_an_agent_in_javascript(up):
    """It is handed what was learnt, and what it reports is learnt in turn."""
    _needs("node")
    known = {"task_id": "before", "success": True, "strategy": "Split by component"}
    up.publish(*(known | {"task_id": f"before-{number}"} for number in range(20)), project="node")
    until(
        lambda: (
            "Split by component"
            in up.example("node", "node/agent.mjs", up.url, up.token, project="node")
        )
    )
    tasks = until(lambda: up.asked("runs", "list", "--task", "build-4713", project="node"))
    assert [call["tool"] for call in tasks[0]["calls"]] == ["edit_file", "run_tests"]
