"""Every source tells the same of the same story."""

import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.capture.conformance.claude_code_teller import ClaudeCodeTeller
from tests.capture.conformance.codex_teller import CodexTeller
from tests.capture.conformance.conformance_stories import (
    PASSWORD,
    SECRET,
    SECRETS_TOLD,
    STORIES,
    Known,
    Story,
    Teller,
    told_by,
    went,
)
from tests.capture.conformance.message_tellers import TELLERS as MESSAGE_TELLERS
from tests.capture.conformance.opencode_teller import OpenCodeTeller
from tests.support.secret_texts import PARTS, SECRET_TEXTS
from trackrecord.wire.outcome import decode_outcome, encode_body
from trackrecord_capture.agent_run import AgentRun
from trackrecord_capture.outcome import outcome_of
from trackrecord_capture.sources.register import tool_words
from trackrecord_capture.sources.source import Log, ReadRun, Unreadable

TELLERS: tuple[Teller, ...] = (
    ClaudeCodeTeller(), CodexTeller(), CodexTeller(code_mode=True), OpenCodeTeller(),
    *MESSAGE_TELLERS,
)  # fmt: skip
TOLD = told_by(TELLERS)
GROWING = [told for told in TOLD if told.values[0].traits.grows]
every_story = pytest.mark.parametrize(("teller", "story"), TOLD)
every_growing_story = pytest.mark.parametrize(("teller", "story"), GROWING)


def _logs(teller: Teller, story: Story, home: Path) -> list[Log]:
    return list(teller.source.logs(teller.tell(story, home)))


def _read(teller: Teller, logs: Iterable[Log]) -> list[AgentRun]:
    found = [each for log in logs for each in teller.source.read(log)]
    assert not [each for each in found if isinstance(each, Unreadable)]
    runs = [each.run for each in found if isinstance(each, ReadRun)]
    # One that is over is told of once; and a sub-agent's log may come before its parent's.
    return sorted(runs, key=lambda run: (bool(run.parent), run.started_at))


def _known(teller: Teller, run: AgentRun) -> Known:
    traits, fields = teller.traits, outcome_of(run, tool_words=tool_words())
    return Known(
        run.instruction,
        fields["success"],
        fields.get("outcome_source"),
        fields["grounds"][0]["kind"],
        tuple(
            # Some agents write a whole file where others patch it.
            ("edit" if call["tool"] == "write" else call["tool"], went(call))
            for call in fields.get("tool_graph", [])
            if call["tool"] != traits.wait_tool
        ),
        run.commits,
    )


def _as_told(teller: Teller, known: Known, run: AgentRun) -> Known:
    """Return what must be known, as far as the agent records it."""
    if teller.traits.hides_errands and run.parent:
        known = known._replace(asked="")
    return known


@every_story
def test_a_story(teller: Teller, story: Story, tmp_path: Path):
    """What is known of it, what every run tells, and what is published; each time it is read."""
    logs = _logs(teller, story, tmp_path)
    runs = _read(teller, logs)
    # The calls have the same names whichever agent made them.
    told = [_as_told(teller, known, run) for known, run in zip(story.known, runs, strict=True)]
    assert [_known(teller, run) for run in runs] == told
    _check_what_every_run_tells(teller, story, runs)
    # One that the wire accepts, and that holds neither secrets nor files.
    for run in runs:
        body = encode_body(outcome_of(run))
        decode_outcome(body)
        for text in (SECRET, PASSWORD, "PRICE = 3"):
            assert text.encode() not in body
    assert _read(teller, logs) == runs


def _check_what_every_run_tells(teller: Teller, story: Story, runs: list[AgentRun]) -> None:
    """Check who, where, when, under an id of its own; and that a sub-agent names its parent."""
    assert len({run.outcome_id for run in runs}) == len(runs)
    # Codex's turns hold the time of their own.
    assert teller.source.name == "codex" or len({run.record for run in runs} - {""}) == len(runs)
    for run in runs:
        assert run.agent == teller.source.name
        assert run.folder.endswith("/src/shop")
        assert 0 < run.started_at <= run.ended_at
        # That a process was killed shows only in its silence.
        assert run.is_over or story.name == "killed in a call"
        assert run.captured_from == "transcript"
        assert not run.parent or run.parent in {other.outcome_id for other in runs}


@pytest.mark.parametrize("teller", TELLERS, ids=lambda teller: teller.name)
def test_no_kind_of_secret_is_published(teller: Teller, tmp_path: Path):
    """Wherever it was written: by a person, in a command, in its output, by the agent."""
    runs = _read(teller, _logs(teller, SECRETS_TOLD, tmp_path))
    assert len(runs) >= len(SECRET_TEXTS)
    published = [encode_body(outcome_of(run)).decode() for run in runs]
    assert [part for part in PARTS if any(part[:6] in body for body in published)] == []


@every_growing_story
def test_reading_in_two_parts(teller: Teller, story: Story, tmp_path: Path):
    """Wherever the first reading stops, also within a line, the second one completes it."""
    told, cut_home = tmp_path / "told", tmp_path / "cut"
    told.mkdir()
    for log in _logs(teller, story, told):
        whole = {run.outcome_id: run for run in _read(teller, [log])}
        text, path = log.path.read_bytes(), cut_home / log.path.relative_to(told)
        for cut in [*_ends_of_lines(text), len(text) // 3, len(text) // 2]:
            # The files and folders around a log may tell something, such as the session.
            shutil.rmtree(cut_home, ignore_errors=True)
            shutil.copytree(told, cut_home)
            assert _read_in_parts(teller, path, text, cut) == whole


def _read_in_parts(teller: Teller, path: Path, text: bytes, cut: int) -> dict[str, AgentRun]:
    found: dict[str, AgentRun] = {}
    resume_at = 0
    for part in (text[:cut], text):
        path.write_bytes(part)
        part_log = Log(path=path, size=len(part), version=len(part))
        for each in teller.source.read(part_log, resume_at):
            if isinstance(each, ReadRun):
                found[each.run.outcome_id] = each.run
                resume_at = each.resume_at
    return found


def _ends_of_lines(text: bytes) -> list[int]:
    return [place + 1 for place, byte in enumerate(text) if byte == ord("\n")]


@every_growing_story
def test_torn_and_unknown_lines(teller: Teller, story: Story, tmp_path: Path):
    """They are named, the rest goes through; a last line without its end is still being written."""
    for log in _logs(teller, story, tmp_path):
        whole = _read(teller, [log])
        lines = log.path.read_bytes().splitlines(keepends=True)
        strange = b'{"type":"never-seen","x":{"y":[1,2]}}\n'
        torn = lines[0][: len(lines[0]) // 2]
        # The first line of a log may say what kind of a log it is.
        parts = [lines[0], strange, *lines[1:2], b"no json\n", b"\n", b"[]\n", *lines[2:], torn]
        log.path.write_bytes(b"".join(parts))
        found = list(teller.source.read(Log(path=log.path, size=1, version=1)))
        assert [each.run for each in found if isinstance(each, ReadRun)] == whole
        assert len([each for each in found if isinstance(each, Unreadable)]) in (1, 2)


def test_what_is_not_told_is_a_story():
    """A name that no story has would leave out nothing."""
    names = {story.name for story in STORIES}
    assert all(set(teller.traits.untold) <= names for teller in TELLERS)
