"""Advice documents for tests, built from the runs of past tasks."""

import time
from array import array
from dataclasses import replace

from hypothesis import strategies as st

from trackrecord.learning.advice.tasks.task_index import build_index
from trackrecord.learning.competences.episodes.signatures import signature_of
from trackrecord.learning.competences.record import (
    Competence,
    Performance,
    RecipeStep,
    TriggerCounts,
)
from trackrecord.learning.competences.rules import Lifecycle
from trackrecord.learning.patterns.evidence import Evidence
from trackrecord.learning.patterns.maturity import AntiPatternRules, MaturityRules
from trackrecord.learning.patterns.standing import PatternFacts, standing_of
from trackrecord.learning.rules_bundle import Rules
from trackrecord.prompt.documents.advice_document import (
    AdviceDocument,
    Expected,
    ExpectedInKind,
    KindEntry,
    LessonEntry,
    PastTasks,
    PatternEntry,
    ProcedureEntry,
)
from trackrecord.prompt.documents.presentation import present_competence, present_pattern
from trackrecord.prompt.documents.rankings_document import RankedMemory, RankingsDocument
from trackrecord.wire.outcome_scorer import recogniser_of

NOW = 1_800_000_000.0
NAMES = recogniser_of(Rules())


def expected(successes=1, failures=1, **more):
    """An estimate of so many runs."""
    a, b = successes + 1.0, failures + 1.0
    known = {"runs": successes + failures, "tasks": successes + failures, "successes": successes}
    return Expected(a, b, a / (a + b), 0.0, 1.0, **{"order_key": a / (a + b), **known, **more})


def lesson(name, *tools, score=0.9, kind="fails", state="established", said=None, **more):
    """A lesson about tools."""
    said = said or f"`{tools[0]}` failed in 9 of 9 calls, in 5 tasks: {name}"
    return LessonEntry(
        id=name, kind=kind, tools=tools, state=state, score=score, runs=9, tasks=5, last_seen=NOW,
        lines={"en": said, "zh": f"{said} (zh)"}, **more,
    )  # fmt: skip


def advice(tasks, *, estimates=None, **more):
    """Advice whose past tasks are {text: [(tools, successes, failures)]}."""
    texts, runs_of = sorted(tasks), tasks
    orders = {
        signature_of(tuple(sorted(tools))): tuple(tools)
        for runs in runs_of.values()
        for tools, *_ in runs
    }
    signatures = sorted(orders)
    kinds = more.pop("task_kinds", {})
    return AdviceDocument(
        project="p",
        revision=1,
        computed_at=NOW,
        procedures=tuple(
            ProcedureEntry(
                signature=each, order=orders[each], expected=(estimates or {}).get(each, expected())
            )
            for each in signatures
        ),
        past_tasks=PastTasks(
            index=build_index(texts),
            kinds=array("I", [kinds.get(text, 0) for text in texts]).tobytes(),
            runs=tuple(_tallies(runs_of[text], signatures) for text in texts),
        ),
        **more,
    )


def _tallies(runs, signatures):
    counts = {}
    for tools, successes, failures in runs:
        place = signatures.index(signature_of(tuple(sorted(tools))))
        won, lost = counts.get(place, (0, 0))
        counts[place] = won + successes, lost + failures
    return tuple((place, won, lost, NOW, NOW) for place, (won, lost) in sorted(counts.items()))


def pattern_entry(slug, kinds=None, **more):
    """A pattern's estimate, the same at each kind of task; runs by kind."""
    whole = expected(**more)
    parts = {
        kind: ExpectedInKind(
            runs, runs, whole.a, whole.b, whole.order_key, whole.is_worth_recommending,
            whole.effect, whole.effect_low, whole.effect_high,
        )
        for kind, runs in (kinds or {}).items()
    }  # fmt: skip
    goes_worse = None if whole.effect is None else (whole.effect_high or 0.0) < 0.0
    return PatternEntry(slug=slug, expected=whole, by_kind=parts, goes_worse=goes_worse)


def known_pattern(slug, helpful, harmful=0, *, content=None, texts=None, present=present_pattern):
    """A pattern that an agent named, presented by the usual rules."""
    evidence = Evidence(helpful, 0, harmful, float(helpful), float(harmful), succeeded=helpful)
    facts = PatternFacts(slug, "named", content or slug, None)
    standing = standing_of(MaturityRules(), AntiPatternRules(), facts, evidence)
    return present(standing, NAMES.name_of, *([] if texts is None else [texts]))


def memory(name, text, score=1.0, *, kind="memory", lines=None):
    """A memory, as it is ranked."""
    return RankedMemory(
        id=name, text=text, type=kind, source=None, confidence=score, effective_confidence=score,
        score=score, lines={"en": f"- {text}", "zh": f"- {text}"} if lines is None else lines,
    )  # fmt: skip


def rankings(**parts):
    """Rankings of a project, computed just now unless it is said when."""
    known = {"project": "p", "revision": 1, "computed_at": time.time(), **parts}
    return RankingsDocument(**known)


def record(name, tools, signal="the build is red", *, conditions=None, good=4, bad=0, **more):
    """A competence, as it is ranked."""
    now = time.time()
    known = TriggerCounts(signal, conditions, good, bad)
    competence = Competence(
        id=name,
        project="p",
        skill_name=f"skill:{'+'.join(sorted(tools))}",
        signature="+".join(sorted(tools)),
        triggers=(known,),
        recipe=tuple(RecipeStep(number, tool, {}) for number, tool in enumerate(tools, 1)),
        failure_modes=(),
        performance=Performance(good, bad),
        confidence=0.8,
        salience=1.0,
        lifecycle=Lifecycle(30.0, 0.1, 0.0, now),
        created_at=now,
        updated_at=now,
    )
    return present_competence(replace(competence, **more), now=now, base_rate=0.5)


def kind(name):
    """A kind of task."""
    return KindEntry(name=name, expected=expected())


_words = st.sampled_from(
    [
        "cancel", "book", "change", "refund", "flight", "seat", "bag", "Anya", "Garcia",
        "mia_li_3668", "7H3",
    ]
)  # fmt: skip
_tools = st.lists(
    st.sampled_from(["get", "search", "cancel", "book", "think"]), min_size=1, max_size=4,
    unique=True,
)  # fmt: skip
_runs = st.lists(
    st.tuples(_tools.map(lambda tools: tuple(sorted(tools))), st.integers(0, 4), st.integers(0, 4)),
    min_size=1,
    max_size=3,
)
texts = st.lists(_words, min_size=3, max_size=9).map(" ".join)
past_tasks = st.dictionaries(texts, _runs, min_size=1, max_size=12)
