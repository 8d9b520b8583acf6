"""Spans and events tell the same of a story as the agents' own recordings, once all is joined."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.capture.conformance.conformance_stories import (
    PASSWORD,
    SECRET,
    SECRETS_TOLD,
    STORIES,
    Known,
    Story,
    told_by,
    went,
)
from tests.capture.conformance.published_traces import published
from tests.capture.conformance.trace_tellers import (
    ClaudeCodeEvents,
    CodexEvents,
    GenAiSpans,
    TraceTeller,
)
from tests.support.secret_texts import PARTS, SECRET_TEXTS
from trackrecord.learning.text.redaction import redacted
from trackrecord.wire.join import OutcomeEntry, join
from trackrecord.wire.outcome import encode_body

TELLERS: tuple[type[TraceTeller], ...] = (GenAiSpans, ClaudeCodeEvents, CodexEvents)
TOLD = told_by(TELLERS)
every_story = pytest.mark.parametrize(("make", "story"), TOLD)


def joined(entries: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the one record of each outcome."""
    bodies: dict[str, list[bytes]] = {}
    for fields in entries:
        bodies.setdefault(fields["outcome_id"], []).append(encode_body(fields))
    return {
        outcome: json.loads(join(OutcomeEntry(body, 1.0) for body in of_one).body)
        for outcome, of_one in bodies.items()
    }


def _known(traits: Any, fields: dict[str, Any]) -> Known:
    # Coding agents' tools have the same names whichever agent it is; frameworks' keep their own.
    names = {traits.edit_tool: "edit", traits.delegate_tool: "delegate", "write": "edit"}
    return Known(
        fields.get("instruction", ""),
        fields["success"],
        fields.get("outcome_source"),
        fields["grounds"][0]["kind"],
        tuple(
            (names.get(call["tool"], call["tool"]), went(call))
            for call in fields.get("tool_graph", [])
            if call["tool"] != traits.wait_tool
        ),
        tuple(fields.get("commits", ())),
    )


@every_story
def test_what_is_known_of_a_traced_story(
    make: type[TraceTeller], story: Story, tmp_path: Path
) -> None:
    """Instruction, verdict, grounds, calls and commits, under the ids of the recordings."""
    teller = make()
    entries = published(teller.tell(story), tmp_path)
    found = joined(entries)
    told = []
    for place, known in enumerate(story.known):
        is_child = place >= len(story.turns)
        asked = "" if is_child and teller.traits.hides_errands else redacted(known.asked)
        told.append(known._replace(asked=asked))
    ids = teller.outcome_ids(story)
    assert set(found) == set(ids)
    assert [_known(teller.traits, found[outcome]) for outcome in ids] == told
    # Neither secrets nor the content of files.
    for fields in entries:
        for text in (SECRET, PASSWORD, "PRICE = 3"):
            assert text.encode() not in encode_body(fields)


@pytest.mark.parametrize("make", TELLERS, ids=lambda make: make.name)
def test_no_kind_of_secret_is_published_of_traces(make: type[TraceTeller], tmp_path: Path) -> None:
    """As of recordings."""
    found = [encode_body(fields) for fields in published(make().tell(SECRETS_TOLD), tmp_path)]
    assert len(found) >= len(SECRET_TEXTS)
    assert [part for part in PARTS if any(part[:6].encode() in body for body in found)] == []


def test_what_is_not_traced_is_a_story() -> None:
    """A name that no story has would leave out nothing."""
    names = {story.name for story in STORIES}
    assert all(set(make().traits.untold) <= names for make in TELLERS)
