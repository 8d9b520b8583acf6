"""What is damaged in a log costs no more than itself."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.capture.conformance.conformance_stories import STORIES, Story, Teller
from tests.capture.conformance.test_conformance import TELLERS
from trackrecord_capture.outcome import outcome_of
from trackrecord_capture.sources.source import ReadRun, Unreadable

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "NULs before it": lambda line: b"\0" * 700 + line,
    "a beginning before it": lambda line: b'{"id": "a", "at' + line,
    "two on one line": lambda line: line.rstrip(b"\n") + line,
    "a beginning and NULs behind it": lambda line: line.rstrip() + b'{"type": "us\0\0\n',
}
OF_LINES = [teller for teller in TELLERS if teller.traits.grows]


def _read(teller: Teller, story: Story, home: Path, damage: Callable[[int, bytes], bytes]):
    logs = list(teller.source.logs(teller.tell(story, home)))
    for log in logs:
        lines = log.path.read_bytes().splitlines(keepends=True)
        log.path.write_bytes(b"".join(damage(place, line) for place, line in enumerate(lines)))
    found = [each for log in logs for each in teller.source.read(log)]
    runs = [each.run for each in found if isinstance(each, ReadRun)]
    told = {(run.instruction, outcome_of(run)["success"], len(run.calls)) for run in runs}
    return told, [each for each in found if isinstance(each, Unreadable)]


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("teller", OF_LINES, ids=lambda teller: teller.name)
def test_whole_records_on_damaged_lines(teller, damage, tmp_path):
    """All of them are read, and nothing of worth was lost."""
    for story in STORIES:
        if story.name not in teller.traits.untold:
            home = tmp_path / story.name.replace(" ", "-")
            whole, _ = _read(teller, story, home / "whole", lambda _, line: line)
            read = _read(teller, story, home / "damaged", lambda _, line: damage(line))
            assert read == (whole, []), story.name


@pytest.mark.parametrize("teller", OF_LINES, ids=lambda teller: teller.name)
def test_a_record_that_is_lost(teller, tmp_path):
    """It is named, and no run fails or succeeds for the want of it."""
    for story in STORIES:
        # Some runs are excused by a record: that the API failed, that there was only to look.
        excused = (*teller.traits.untold, "the API fails", "a sub-agent")
        if len(story.turns) > 1 or story.name in excused:
            continue
        home = tmp_path / story.name.replace(" ", "-")
        told, _ = _read(teller, story, home / "whole", lambda _, line: line)
        verdicts = {None, *(success for _, success, _ in told)}
        for lost in range(1, 60):
            read, bad = _read(
                teller, story, home / str(lost),
                lambda at, line, lost=lost: line[: len(line) // 2] + b"\n" if at == lost else line,
            )  # fmt: skip
            if not bad:
                break
            assert {success for _, success, _ in read} <= verdicts, (story.name, lost, read)
