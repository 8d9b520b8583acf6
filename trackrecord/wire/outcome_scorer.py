"""Score an outcome and find the patterns and criteria that it is evidence for.

Pure: the same outcome, received at the same moment, is always scored alike. The worker does it
once for each outcome, a rebuild once more for all.
"""

from functools import lru_cache, partial

import msgspec

from trackrecord.learning.criteria.weights import NAMED_VALUE, CriteriaRules
from trackrecord.learning.outcomes.scoring import (
    Score,
    ScoringRules,
    Verdict,
    graded_duration,
    score_outcome,
)
from trackrecord.learning.rules_bundle import Rules
from trackrecord.learning.strategies.catalogue import Strategy
from trackrecord.learning.strategies.recogniser import Recogniser

from .outcome import Outcome, decode_stored
from .run_digest import run_digest
from .run_marks import marks_of, task_text_of
from .tried_calls import tried_digest

STRATEGY = "strategy"
NAMED = "named"

MAX_MEMORY_ID = 128
# A task is found again, and recognised, by the beginning of its text.
MAX_INSTRUCTION = 1000

# The same few names come again and again.
_NAMES_REMEMBERED = 10_000
_SCORES_REMEMBERED = 1_000


class Touch(msgspec.Struct, frozen=True, gc=False):
    """One pattern that an outcome touches.

    Attributes:
        slug: its identity within the project.
        kind: "strategy" or "named".
        content: how it was written.
    """

    slug: str
    kind: str
    content: str


class NamedVerdict(msgspec.Struct, frozen=True, gc=False):
    """An outcome's verdict on a criterion that it names.

    Attributes:
        criterion: the criterion's name.
        verdict: the outcome's verdict on it.
        value: the raw value of the verdict.
    """

    criterion: str
    verdict: Verdict
    value: float


class ScoredOutcome(msgspec.Struct, frozen=True, gc=False):
    """One outcome, ready to be recorded.

    Attributes:
        project: its project.
        outcome_id: unique in the project.
        task_id: the task.
        received_at: seconds since the epoch.
        ended_at: when the task ended, never later than it was received.
        success: whether the task reached its goal; None where nobody knows it. Such an outcome is
            evidence for nothing but the calls that it made.
        raw_score: 0..1, undecayed; None without `success`.
        verdict: the verdict that follows from the score; None without one.
        touches: the patterns that get an observation.
        is_episode: whether it used a named tool, and it is known how it went.
        body: its encoded body.
        digest: what advice is counted from, see `run_digest`.
        judged: criteria that get the outcome's own verdict: the default ones it does not name.
        named: its verdicts on the criteria that it names.
        competence_id: the competence record that was used, if it says so.
        duration_ms: how long it took, where that is known.
        memory_ids: the distinct ids of the memories that were used.
        instruction: the beginning of the task's text; "" if not reported.
        commits: the commits that it made.
        speaker: the one whose word the verdict is, see `Outcome.speaker`.
        is_claim: whether only the agent's own word, or a guess, says how it went.
        tried: its calls that can be tried again, see `tried_digest`.
        marks: what lists of runs are filtered by, see `marks_of`.
        task_text: what searches for the task look through, see `task_text_of`.
    """

    project: str
    outcome_id: str
    task_id: str
    received_at: float
    ended_at: float
    success: bool | None
    raw_score: float | None
    verdict: Verdict | None
    touches: tuple[Touch, ...]
    is_episode: bool
    body: bytes
    digest: bytes
    judged: tuple[str, ...] = ()
    named: tuple[NamedVerdict, ...] = ()
    competence_id: str | None = None
    duration_ms: int | None = None
    memory_ids: tuple[str, ...] = ()
    instruction: str = ""
    commits: tuple[str, ...] = ()
    speaker: str = ""
    is_claim: bool = False
    tried: bytes = b""
    marks: str = ""
    task_text: str = ""


class OutcomeScorer:
    """Score outcomes by one set of rules.

    Args:
        scoring: how scores are computed.
        recogniser: finds strategies in prose and by name.
        criteria: which criteria get feedback.

    Attributes:
        slug_of: returns the identity of a pattern's name; None without letters and digits.
    """

    def __init__(
        self,
        scoring: ScoringRules,
        recogniser: Recogniser,
        criteria: CriteriaRules,
    ) -> None:
        self._scoring = scoring
        self._criteria = criteria
        self._recogniser = recogniser
        self.slug_of = recogniser.slug_of
        self._score = lru_cache(maxsize=_SCORES_REMEMBERED)(partial(score_outcome, scoring))
        self._touch_of = lru_cache(maxsize=_NAMES_REMEMBERED)(self._new_touch)
        self._strategies = {
            each.slug: Touch(each.slug, STRATEGY, each.name_en or each.name_zh)
            for each in recogniser.strategies
        }

    def score_stored(self, body: bytes, *, received_at: float, outcome_id: str) -> ScoredOutcome:
        """Score an outcome that is on record, or follows from what is."""
        outcome = decode_stored(body)
        return self.score(outcome, body, received_at=received_at, outcome_id=outcome_id)

    def score(
        self, outcome: Outcome, body: bytes, *, received_at: float, outcome_id: str
    ) -> ScoredOutcome:
        """Score one outcome.

        Args:
            outcome: the decoded body.
            body: the bytes it came as.
            received_at: seconds since the epoch.
            outcome_id: the id to use if the producer gave none.
        """
        score = self.score_of(outcome)
        # Where nobody knows how it went, it is evidence for nothing, but its calls are kept.
        touches = () if score is None else self.touches(outcome)
        judged, named = ((), ()) if score is None else self._feedback(outcome)
        assert outcome.task_id is not None  # noqa: S101 - narrows what Outcome guarantees
        return ScoredOutcome(
            project=outcome.project,
            outcome_id=outcome.outcome_id or outcome_id,
            task_id=outcome.task_id,
            received_at=received_at,
            ended_at=outcome.ended_at(received_at),
            success=outcome.success,
            raw_score=score.raw_score if score else None,
            verdict=score.verdict if score else None,
            touches=touches,
            is_episode=score is not None and is_episode(outcome),
            body=body,
            digest=run_digest(outcome, tuple([touch.slug for touch in touches])),
            judged=judged,
            named=named,
            competence_id=outcome.competence_id if score else None,
            duration_ms=outcome.duration_ms,
            memory_ids=_usable_ids(outcome.memory_ids) if score and outcome.memory_ids else (),
            instruction=(outcome.instruction or "")[:MAX_INSTRUCTION].strip() if score else "",
            commits=outcome.commits or (),
            speaker=outcome.speaker,
            is_claim=score is not None and outcome.is_claim,
            tried=tried_digest(outcome),
            marks=marks_of(outcome),
            task_text=task_text_of(outcome),
        )

    def score_of(self, outcome: Outcome) -> Score | None:
        """Return the score of an outcome's signals; None if it is unknown how the task ended."""
        if outcome.success is None:
            return None
        duration = outcome.duration_ms
        return self._score(
            success=outcome.success,
            duration_ms=None if duration is None else graded_duration(self._scoring, duration),
            error_count=outcome.error_count,
            retry_count=outcome.retry_count,
        )

    def _feedback(self, outcome: Outcome) -> tuple[tuple[str, ...], tuple[NamedVerdict, ...]]:
        defaults = self._criteria.defaults
        if not outcome.criteria:  # most outcomes by far: they share one tuple
            return defaults, ()
        verdicts = {name.strip(): Verdict(said) for name, said in outcome.criteria.items()}
        verdicts.pop("", None)
        return (
            tuple(name for name in defaults if name not in verdicts),
            tuple(
                NamedVerdict(name, verdict, 0.0 if verdict is Verdict.NEUTRAL else NAMED_VALUE)
                for name, verdict in sorted(verdicts.items())
            ),
        )

    def touches(self, outcome: Outcome) -> tuple[Touch, ...]:
        """Return the distinct patterns that an outcome names or mentions, whether or not it counts.

        A strategy wins over an equal name.
        """
        found: dict[str, Touch] = {}
        for name in outcome.patterns or ():
            named = self._touch_of(NAMED, name)
            if named is not None:
                found[named.slug] = named
        if outcome.description:
            for strategy in self._recogniser.recognise(outcome.description):
                found[strategy.slug] = self._strategies[strategy.slug]
        if outcome.strategy:
            given = self._touch_of(STRATEGY, outcome.strategy)
            if given is not None:
                found[given.slug] = self._strategies.get(given.slug, given)
        return tuple(found.values())

    def _new_touch(self, kind: str, name: str) -> Touch | None:
        slug = self.slug_of(name)
        return None if slug is None else Touch(slug, kind, name)


def is_episode(outcome: Outcome) -> bool:
    """Return whether an outcome used a named tool."""
    calls = outcome.tool_graph
    return calls is not None and any(call.tool and call.tool.strip() for call in calls)


def _usable_ids(given: tuple[str, ...]) -> tuple[str, ...]:
    """Deduplicate the ids and drop any longer than 128 characters."""
    return tuple(dict.fromkeys(each for each in given if 0 < len(each) <= MAX_MEMORY_ID))


def recogniser_of(rules: Rules) -> Recogniser:
    """Return a recogniser of the twelve strategies and the user's own; built once for the same."""
    return _recogniser(rules.strategies)


@lru_cache(maxsize=8)
def _recogniser(own: tuple[Strategy, ...]) -> Recogniser:
    return Recogniser(own)


def scorer_of(rules: Rules) -> OutcomeScorer:
    """Return a scorer, which scores outcomes and finds the patterns that they touch."""
    return OutcomeScorer(rules.scoring, recogniser_of(rules), rules.criteria)
