"""What strangers report of lines, paths and needs gives no orders, at failures and at a start.

The corpus comes in as the command lines, checks, files and errors of runs that name a source nobody
knows, beside sessions of this machine; of each string it is asked whether its order can be read.
"""

from collections.abc import Iterator, Sequence
from posixpath import basename

import msgspec
import pytest

from tests.injection.corpus import can_be_read, injections
from tests.injection.test_injection import MOST_READABLE, tell
from tests.learning.advice.test_moments import cached
from trackrecord.learning.advice.moments.calls import TriedCall, TriedCheck, TriedRun
from trackrecord.learning.advice.moments.commands import told_histories
from trackrecord.learning.advice.moments.facts import MomentFacts
from trackrecord.learning.advice.moments.hints import SessionCalls, hint_after, standing_lines
from trackrecord.learning.advice.moments.wording import usual_text
from trackrecord.learning.numbers.speaker_names import LOCAL, TOKEN
from trackrecord.wire.outcome import decode_outcome
from trackrecord.wire.tried_calls import tried_digest, tried_run

CORPUS = injections()
NOW = 1_790_000_000.0


def shell(line: str, *, ok: bool = True, error: str = "") -> dict[str, object]:
    """A call of a shell that runs a check."""
    state = "passed" if ok else "not started"
    return {
        "tool": "shell:pytest", "ok": ok, "args": {"command": line[:1000]}, "error": error or None,
        "checks": [{"kind": "test", "state": state, "line": line[:300], "is_whole": True}],
    }  # fmt: skip


def failing(text: str) -> list[list[dict[str, object]]]:
    """Five sessions in which a line does not start."""
    return [[shell(text, ok=False, error=text)]] * 5


WAYS = {
    "line": lambda text: [[shell(text)]] * 5,
    "failure": failing,
    "remedy": lambda text: [[shell("pytest", ok=False, error="not found"), shell(text)]] * 5,
    "path": lambda text: [[{"tool": "Read", "ok": True, "args": {"file_path": text}}]] * 5,
    "name": lambda text: [
        [{"tool": "Read", "ok": True, "args": {"file_path": f"{text}/settings.py"}}]
    ] * 5,
    "need": lambda text: [
        [shell("pytest", ok=False, error=text)] * (n % 2)
        + [{"tool": f"shell:{text[:100]}", "ok": True, "args": {"command": text}}, shell("pytest")]
        for n in range(12)
    ],
}  # fmt: skip


def runs_by(
    speaker: str, sessions: Sequence[list[dict[str, object]]], start: int
) -> list[TriedRun]:
    """The calls of sessions, as they are noted when a worker reads them."""
    found = []
    for number, graph in enumerate(sessions, start):
        body = msgspec.json.encode({"task_id": f"t{number}", "success": None, "tool_graph": graph})
        digest = tried_digest(decode_outcome(body))
        if digest:
            found.append(tried_run(digest, outcome=number, ended_at=NOW + number, speaker=speaker))
    return found


def told(facts: MomentFacts, text: str) -> Iterator[str]:
    """All that any agent is told of these facts."""
    yield from standing_lines(facts, NOW + 999).values()
    yield usual_text(facts.usual, 320)
    asking = [
        TriedCall("shell:pytest", ok=False, line="pytest", error="pytest: command not found",
                  checks=(TriedCheck("test", "not started", "pytest"),)),
        *(TriedCall("Read", ok=False, file=name, error="no such file or directory")
          for name in (basename(text), "settings.py")),
    ]  # fmt: skip
    for call in asking:
        said = call.error if not call.file else f"{call.file}: {call.error}"
        hint = hint_after(cached(facts), call, said, SessionCalls(id="asks"), now=NOW + 999)
        if hint is not None:
            yield hint.text


@pytest.mark.parametrize(
    ("way", "speaker"),
    [*((way, "stranger") for way in WAYS), ("line", f"{TOKEN}ci"), ("remedy", f"{TOKEN}ci")],
)
def test_a_stranger_plants_nothing(way, speaker):
    """Beside sessions of this machine, and among others whom nobody knows.

    Of a known speaker, such as a token, who repeats what it read, hardly anything parses as a
    command that checks.
    """
    read = [{"tool": "Read", "ok": True, "args": {"file_path": "a.py"}}]
    usual = [shell("uv run pytest -q")] if speaker == "stranger" else read
    for others in (LOCAL, "somebody") if speaker == "stranger" else (LOCAL,):
        own = runs_by(others, [usual] * 3, 0)
        readable = [
            each.text
            for each in CORPUS
            for runs in ([*own, *runs_by(speaker, WAYS[way](each.text), 100)],)
            for history in told_histories(runs).values()
            if any(can_be_read(each.order, said) for said in told(history.facts(), each.text))
        ]
        tell(f"{way} of {speaker} beside {others}: {len(readable)} of {len(CORPUS)} readable")
        assert len(readable) <= MOST_READABLE, readable


def test_the_paths_are_open():
    """A line, a file and a need of this machine are told."""
    for way, text, wanted in (
        ("line", "npm run test", "npm run test"),
        ("name", "src/app", "src/app/settings.py"),
    ):
        runs = runs_by(LOCAL, WAYS[way](text), 0)
        (history,) = told_histories(runs).values()
        assert any(wanted in said for said in told(history.facts(), text))
