"""The programs in `examples`, run as they are against a real trackrecord: what became of each."""

import re
import shutil
import sys
from pathlib import Path

import pytest
from tried import EXAMPLES, until


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
        """What the cache in Redis has follows within a second or so."""
        text = up.example(sys.executable, "ask_before_a_task.py", project="loop")
        assert text.endswith("## Your task\n\nMend the nightly build\n")
        return text if "AVOID: Split by file type" in text else None

    assert "- Split by component [PROVEN" in until(prompt)
    (task,) = until(lambda: up.asked("runs", "list", "--task", "build-4711", project="loop"))[:1]
    assert task["success"] is True
    handed = until(lambda: up.asked("effect", project="loop")["entries"])
    assert "split-by-component" in [entry["id"] for entry in handed]


def test_a_traced_agent_is_an_outcome(up):
    """With its tools in their order and the verdict of its evaluation."""
    assert up.example(sys.executable, "traced_agent.py", project="traced") == ""
    (run,) = until(lambda: up.asked("runs", "list", project="traced"))
    assert (run["source"], run["success"], run["captured_from"]) == ("mender", True, "traces")
    assert [call["tool"] for call in run["calls"]] == ["read_file", "edit_file"]


def test_a_shell_reports_and_is_told(up):
    """An outcome and an error of it, by entries of the stream; the next attempt hears of it."""
    if shutil.which("redis-cli") is None:
        pytest.skip("there is no redis-cli on the PATH")
    said = up.example("sh", "from_a_shell.sh", project="shell")
    assert "timed out after 60 s" in said
    (run,) = until(lambda: up.asked("runs", "list", project="shell"))
    assert (run["task_id"], run["success"]) == ("build-4712", True)
    assert [each["content"] for each in up.asked("patterns", "list", project="shell")] == [
        "Split by component"
    ]
