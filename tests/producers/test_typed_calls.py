"""A type checker sees the fields of an outcome: what is misspelt or of the wrong type is found."""

import re
import subprocess
import sys
from inspect import cleandoc
from pathlib import Path

import pytest

from trackrecord.wire.outcome import Cost, Outcome, Process, ToolCall, Trigger
from trackrecord_producers.bodies.outcome_fields import (
    AttemptFields,
    CostFields,
    OutcomeFields,
    ProcessFields,
    ToolCallFields,
    TriggerFields,
)

ROOT = Path(__file__).parents[2]

AGENT = """\
import time
from datetime import datetime, timezone
import trackrecord

began = time.time()
trackrecord.publish(
    task_id="t", success=True, duration_ms=(time.time() - began) * 1000,
    timestamp=datetime.now(timezone.utc), trigger={"signal": "build is red"},
    tool_graph=[{"tool": "grep", "ok": True, "args": {"path": "a.py"}}],
    criteria={"readable": "helpful"}, cost={"usd": 0.5}, metadata={"own": [1]}, project=None,
)
with trackrecord.attempt("t", strategy="file-based") as attempt:
    attempt.note(success=False, memory_ids=["m"])


@trackrecord.attempt("t")
async def work(number: int) -> str: return str(number)


async def ask() -> str:
    await trackrecord.aspool(task_id="t", success=True, description="plan")
    return (await trackrecord.arankings(task="t")).prompt + await trackrecord.aerror_context("t")


trackrecord.publish(task_id="t", success=True, strategey="file-based")  # 1
trackrecord.publish(task_id="t", success=True, duration_ms="12 ms")  # 2
trackrecord.publish(task_id="t", success=True, tool_graph=[{"name": "grep"}])  # 3
trackrecord.publish(task_id="t", success=True, cost={"token_in": 1})  # 4
trackrecord.publish(task_id="t", success=True, outcome_source="guess")  # 5
trackrecord.spool(task_id="t", success=True, stratgy="x")  # 6
trackrecord.attempt("t", duratoin_ms=12)  # 7
attempt.note(failure_mod="timeout")  # 8
attempt.note(retry_count="two")  # 9
work("one")  # 10
"""


@pytest.mark.timeout(600)  # without a cache, on a busy machine
def test_mypy_finds_what_is_misspelt_or_of_the_wrong_type(tmp_path):
    """In publish, spool, attempts and their notes; and nothing in calls that are right."""
    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    done = subprocess.run(
        # The cache that `make check` fills as well.
        [sys.executable, "-m", "mypy", "--no-error-summary", "--hide-error-context",
         "--cache-dir", str(ROOT / ".mypy_cache"), str(tmp_path / "agent.py")],
        cwd=ROOT, capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    found = {
        int(line): text for line, text in re.findall(r"agent\.py:(\d+): error: (.*)", done.stdout)
    }
    lines = AGENT.splitlines()
    by_number = {
        int(lines[line - 1].rpartition("# ")[2]): text
        for line, text in found.items()
        if "# " in lines[line - 1]
    }
    assert len(by_number) == len(found), done.stdout
    assert set(by_number) == set(range(1, 11)), done.stdout + done.stderr
    for number, name in ((1, "strategey"), (6, "stratgy"), (7, "duratoin_ms"), (8, "failure_mod")):
        assert f'Unexpected keyword argument "{name}"' in by_number[number]
    for number, name in ((2, "duration_ms"), (5, "outcome_source"), (9, "retry_count")):
        assert name in by_number[number]


# Who judged and who amended is written by the store alone.
OF_THE_STORE = {"amended_by", "judged_by", "thinned"}


@pytest.mark.parametrize(
    ("typed", "wire"),
    [
        (OutcomeFields, set(Outcome.__struct_fields__) - {"task_id", "success"} - OF_THE_STORE),
        (AttemptFields, set(Outcome.__struct_fields__) - {"task_id"} - OF_THE_STORE),
        # The capture of agents' sessions fills in the checks.
        (ToolCallFields, set(ToolCall.__struct_fields__) - {"checks"}),
        (TriggerFields, set(Trigger.__struct_fields__)),
        (ProcessFields, set(Process.__struct_fields__)),
        (CostFields, set(Cost.__struct_fields__)),
    ],
)
def test_the_typed_fields_are_those_of_the_wire(typed, wire):
    """Every one, each described, and which may be left out."""
    assert (
        set(typed.__annotations__) | set(typed.__optional_keys__ | typed.__required_keys__) == wire
    )
    assert typed.__required_keys__ == (frozenset({"signal"}) if typed is TriggerFields else set())
    described = cleandoc(typed.__doc__)  # from Python 3.13 on the compiler does the same
    for name in wire - ({*OutcomeFields.__optional_keys__} if typed is AttemptFields else set()):
        assert re.search(rf"^    {name}: ", described, re.MULTILINE), name
