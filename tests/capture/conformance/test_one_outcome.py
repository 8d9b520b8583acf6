"""One outcome for one run, however many sources tell of it, how often, and in whichever order."""

import itertools
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sqlalchemy import Engine

from tests.capture.conformance.claude_code_teller import ClaudeCodeTeller
from tests.capture.conformance.codex_teller import CodexTeller
from tests.capture.conformance.conformance_stories import STORIES, Known, Story, Teller
from tests.capture.conformance.published_traces import Outcomes, published
from tests.capture.conformance.trace_tellers import ClaudeCodeEvents, CodexEvents, TraceTeller
from tests.capture.made_runs import run_of
from tests.support.prompt_answers import answer_from
from trackrecord.learning.rules_bundle import Rules
from trackrecord.prompt.documents.rankings_document import RankingsDocument
from trackrecord.resources.prompt_documents.advice import build_advice
from trackrecord.store.advice.runs import read_runs
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord.store.intake.intake import learn
from trackrecord.store.outcomes.projects import count_outcomes, project_id_of
from trackrecord.wire.join import OutcomeEntry, join
from trackrecord.wire.outcome import decode_outcome, encode_body
from trackrecord.wire.outcome_scorer import scorer_of
from trackrecord_capture.agent_run import AgentRun, RunCall
from trackrecord_capture.history.reading import LogReading, read_and_publish
from trackrecord_capture.history.state import CaptureState
from trackrecord_capture.otlp.traces.opening import recorded_prompt
from trackrecord_capture.outcome import outcome_of
from trackrecord_capture.sources.register import own_tool_names, tool_words

_NOW = 1_795_900_000.0
# "the status of a pipe": the events cannot tell; "told that it is wrong": what came later does.
_NAMES = ("mended", "the status of a pipe", "told that it is wrong", "a sub-agent", "the API fails")
_TOLD = [
    pytest.param(teller, events, story, id=f"{teller.name}: {story.name}")
    for teller, events in ((ClaudeCodeTeller(), ClaudeCodeEvents), (CodexTeller(), CodexEvents))
    for story in STORIES
    if story.name in _NAMES
]
every_told_story = pytest.mark.parametrize(("teller", "events", "story"), _TOLD)


class Entries(NamedTuple):
    """The published outcomes of one story, by source.

    Attributes:
        whole: what the agent's own recording says once all is over, by the outcome's id.
        all: that, what was read of it before it was whole, and what the events say.
    """

    whole: dict[str, dict[str, Any]]
    all: list[dict[str, Any]]


@pytest.fixture
def entries(
    teller: Teller,
    events: type[TraceTeller],
    story: Story,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Entries:
    """Play the story in each way on one machine."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    places = teller.tell(story, tmp_path)
    told = published(events().tell(story), tmp_path, recorded_prompt)
    sink = Outcomes()
    for log in sorted(teller.source.logs(places), key=lambda log: log.path.name):
        text = log.path.read_bytes()
        with CaptureState(tmp_path / "state") as state:
            # As after each hook: what is there so far, and in the end the whole.
            for part in (text[: len(text) // 2], text):
                log.path.write_bytes(part)
                (grown,) = teller.source.logs([log.path])
                read_and_publish(
                    teller.source, grown, state, sink, LogReading(outcome_of=outcome_of)
                )
    whole = {fields["outcome_id"]: fields for fields in sink.published}
    return Entries(whole, [*sink.published, *told])


def _orders(bodies: Sequence[bytes]) -> Iterator[tuple[bytes, ...]]:
    """Every order of a few entries, some orders of many; each also with every entry doubled."""
    chance = random.Random(len(bodies))
    orders = itertools.islice(itertools.permutations(bodies), 200)
    for order in orders:
        yield order
        yield tuple(chance.sample((*order, *order), 2 * len(order)))


def _verdict(fields: dict[str, Any]) -> tuple[bool | None, str | None]:
    return fields["success"], fields.get("outcome_source")


def _of_story(known: Known) -> tuple[bool | None, str | None]:
    return known.success, known.because


@every_told_story
def test_joined_in_whichever_order(entries: Entries, story: Story) -> None:
    """The verdict is the story's, and the calls are those of the agent's own recording."""
    assert {fields["outcome_id"] for fields in entries.all} == set(entries.whole)
    assert {fields["project"] for fields in entries.all} == {"shop"}
    verdicts = []
    for outcome, whole in entries.whole.items():
        bodies = [encode_body(each) for each in entries.all if each["outcome_id"] == outcome]
        assert len(bodies) > 1
        joined = {
            join(OutcomeEntry(body, _NOW + place) for place, body in enumerate(order)).body
            for order in _orders(bodies)
        }
        (only,) = map(json.loads, joined)
        assert only["tool_graph"] == whole["tool_graph"]
        assert (only["captured_from"], only["task_id"]) == ("transcript", whole["task_id"])
        verdicts.append(_verdict(only))
    assert sorted(verdicts, key=str) == sorted(map(_of_story, story.known), key=str)


@pytest.fixture
def store(store_url: str) -> Iterator[Engine]:
    """A migrated store without a row; the test runs on each dialect."""
    engine = connect_store(store_url, timeout_s=20.0)
    yield engine
    engine.dispose()


@pytest.mark.parametrize(
    ("teller", "events", "story"), [each for each in _TOLD if "a sub" in each.id]
)
@pytest.mark.parametrize("seed", range(3))
def test_learnt_in_whichever_order(
    entries: Entries, store: Engine, seed: int, story: Story
) -> None:
    """The store holds each run once, with the calls of the recording and the story's verdict."""
    rules = Rules()
    scorer = scorer_of(rules)
    bodies = [encode_body(each) for each in (*entries.all, *entries.all)]
    random.Random(seed).shuffle(bodies)
    for place, body in enumerate(bodies):
        scored = scorer.score(
            decode_outcome(body), body, received_at=_NOW + place, outcome_id="none"
        )
        with writing(store) as connection:
            learn(connection, [scored], rules, now=_NOW + place)
    with reading(store) as connection:
        project = project_id_of(connection, "shop")
        assert project is not None
        counts = count_outcomes(connection, project)
        runs = read_runs(connection, project, limit=100)
    judged = [known.success for known in story.known]
    assert (counts.outcomes, counts.successes, counts.without_verdict) == (
        len(judged), judged.count(True), judged.count(None)
    )  # fmt: skip
    # Procedures are learnt from runs with a verdict.
    judged_runs = [whole for whole in entries.whole.values() if whole["success"] is not None]
    told = [[call["tool"] for call in whole["tool_graph"]] for whole in judged_runs]
    assert sorted([step.tool for step in run.steps] for run in runs) == sorted(told)


_SHELLS = {"claude-code": "Bash", "codex": "exec_command", "opencode": "bash"}
_EDITORS = {"claude-code": "Edit", "codex": "apply_patch", "opencode": "edit"}


def _edited(agent: str, number: int) -> AgentRun:
    """Return a run whose first edit failed, and whose second one mended the work."""
    edit = RunCall(tool=_EDITORS[agent], edits=("/src/shop/cart.py",), ok=True)
    missed = RunCall(tool=_EDITORS[agent], ok=False, error="context line not found in the file")
    check = RunCall(
        tool=_SHELLS[agent], command="uv run pytest -q", ok=True, exit_code=0, result="3 passed"
    )
    return run_of(
        missed, edit, check, agent=agent, session=f"s{number}", started_at=_NOW + number,
        ended_at=_NOW + number + 0.5,
        instruction=f"Mend the total of cart number {number} in the shop",
    )  # fmt: skip


def test_what_several_agents_do_counts_together(store: Engine) -> None:
    """One lesson and one procedure of three agents' runs, told to each in its own words."""
    rules, agents = Rules(), list(_EDITORS)
    scorer = scorer_of(rules)
    for number in range(9):
        run = _edited(agents[number % 3], number)
        body = encode_body(outcome_of(run, tool_words=tool_words()))
        scored = scorer.score(
            decode_outcome(body), body, received_at=_NOW + number, outcome_id="none"
        )
        with writing(store) as connection:
            learn(connection, [scored], rules, now=_NOW + number)
    with reading(store) as connection:
        advice = build_advice(connection, "shop", rules, now=_NOW + 10, tool_names=own_tool_names())
    assert [procedure.order for procedure in advice.procedures] == [("edit",)]
    assert [lesson.tools for lesson in advice.lessons if lesson.kind == "fails"] == [("edit",)]
    document = RankingsDocument(project="shop", revision=1, computed_at=_NOW)
    for agent, edit in {**_EDITORS, "another": "edit"}.items():
        told = answer_from(
            document, project="shop", problem=None, budget=400, limit=None, language="en",
            task="Mend the file: the context line is not found", now=_NOW + 10, advice=advice,
            source=agent,
        ).prompt  # fmt: skip
        assert f"`{edit}` failed in 9 of 18 calls, in 9 tasks" in told
