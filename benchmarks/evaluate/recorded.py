"""Recorded outcomes and the prompts after them, for an evaluation."""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from sqlalchemy import Engine

from trackrecord.learning.advice.runs.runs import Run
from trackrecord.learning.rules_bundle import Rules
from trackrecord.prompt.choosing.inputs import PromptInputs, PromptRules
from trackrecord.prompt.choosing.recommended import recommended_procedures
from trackrecord.prompt.documents.rankings_document import RankingsDocument
from trackrecord.prompt.question.question import PromptQuestion
from trackrecord.resources.prompt_documents.advice import advice_from
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.advice.runs import read_runs
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.database.migrate import open_store
from trackrecord.store.intake.intake import learn
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.wire.outcome import decode_outcome
from trackrecord.wire.outcome_scorer import scorer_of

from .recommendations import Advised, Adviser

# All outcomes are evaluated together, whatever their projects.
EVALUATED: Final = "evaluation"
_BATCH: Final = 500


def learn_apart(
    given: Iterable[tuple[str, bytes]], settings: DaemonSettings, *, now: float
) -> list[Run]:
    """Return outcomes as runs, learnt in a store of their own that is removed afterwards.

    Args:
        given: the ids and bodies of outcomes of the project `EVALUATED`; of equal ids the first
            one counts.
        settings: the rules.
        now: the present, seconds since the epoch.
    """
    with tempfile.TemporaryDirectory(prefix="trackrecord-evaluation-") as folder:
        engine = open_store(f"sqlite:///{Path(folder) / 'store.sqlite'}")
        try:
            _learn(engine, given, settings, now)
            return _read(engine)
        finally:
            engine.dispose()


def advising(runs: Sequence[Run], rules: Rules) -> Adviser:
    """Return a function that recommends as a prompt would, from the text of a task.

    Args:
        runs: all that is known; the moment is when the last of them ended.
        rules: the rules of the settings.
    """
    moment = max((run.ended_at for run in runs), default=0.0)
    advice, _ = advice_from(EVALUATED, runs, rules, moment=moment)
    document = RankingsDocument(project=EVALUATED, revision=0, computed_at=moment)

    prompt_rules = PromptRules(memories=rules.memories)

    def told(text: str, source: str) -> Advised:
        question = PromptQuestion(EVALUATED, text, source=source)
        known = PromptInputs(question, document, advice, prompt_rules)
        votes = known.expectation.votes
        named = recommended_procedures(known)
        return Advised(
            frozenset(votes.ranked[0].tools) if votes.ranked else None,
            votes.needs_more,
            frozenset(named[0].tools) if named else None,
        )

    return told


def _learn(
    engine: Engine, given: Iterable[tuple[str, bytes]], settings: DaemonSettings, now: float
) -> None:
    scorer = scorer_of(settings.rules)
    for batch in _batches(given):
        scored = [
            scorer.score(
                decode_outcome(body, max_bytes=settings.max_body_bytes),
                body,
                received_at=now,
                outcome_id=outcome_id,
            )
            for outcome_id, body in batch
        ]
        with writing(engine) as connection:
            learn(connection, scored, settings.rules, now=now)


def _batches(given: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    rest = iter(given)
    return iter(lambda: list(islice(rest, _BATCH)), [])


def _read(engine: Engine) -> list[Run]:
    with reading(engine) as connection:
        project_id = project_id_of(connection, EVALUATED)
        if project_id is None:
            return []
        return read_runs(connection, project_id)
