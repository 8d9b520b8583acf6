"""Which procedure to recommend: votes for a task whose own runs are left out, beside baselines."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import fsum
from random import Random
from typing import Any, Final

from ...competences.rules import CompetenceRules
from ..ballots import ballots_of
from ..runs import Run
from ..votes import recommend
from .measures import Figure, over_tasks
from .seed_choice import choose_by_seed
from .specific_tools import specific_tools

# The votes are counted anew for each task: of very many tasks, fewer are asked about.
_MOST_COUNTED: Final = 500_000
_LEAST_TASKS: Final = 30
# A source with fewer runs is asked about with the runs of all sources.
_OWN_SOURCE_FROM: Final = 20
METHODS: Final = ("votes", "commonest", "random", "seed")

Tools = frozenset[str]


@dataclass(frozen=True)
class Gold:
    """What would have been right, where a benchmark says so.

    Attributes:
        answers: for each task, the tools that had to change something.
        changing: all tools that change something.
    """

    answers: Mapping[str, Tools] = field(default_factory=dict)
    changing: Tools = frozenset()


@dataclass(frozen=True)
class _Asked:
    """One task of one source, and what each method would have recommended.

    Attributes:
        task: the task.
        answers: for each method, the recommended sets of tools with their probabilities.
        silent: whether the votes say that more information is needed.
        successes: the tools of the task's own successful runs, of which no method knew.
        specific: the tools that a task calls for, whoever does it.
    """

    task: str
    answers: Mapping[str, Mapping[Tools, float]]
    silent: bool
    successes: tuple[Tools, ...]
    specific: Tools


@dataclass(frozen=True)
class RecommendationQuality:
    """How good recommendations are.

    Attributes:
        tasks: the tasks that were asked about.
        distinct: how many different sets of tools were recommended.
        seed_distinct: the same by `competences select --by seed`.
        commonest_share: how often the most frequent of them was recommended.
        silent: how often more information is needed.
        matches: for each method, the share of the task's successful runs that used just the
            recommended tools, among the specific ones.
        overlap: common tools ÷ tools of both, on average.
        right: for each method, how often the recommended tools that change something are those
            of the benchmark's answer; None without one.
        right_when_said: the same of the votes, where no more information is needed.
    """

    tasks: int
    distinct: int
    seed_distinct: int
    commonest_share: Figure | None
    silent: Figure | None
    matches: Mapping[str, Figure | None]
    overlap: Mapping[str, Figure | None]
    right: Mapping[str, Figure | None] | None
    right_when_said: Figure | None

    def to_document(self) -> dict[str, Any]:
        """Return the figures as a JSON object."""
        return {
            "tasks": self.tasks,
            "distinct": self.distinct,
            "seed_distinct": self.seed_distinct,
            "commonest_share": _document(self.commonest_share),
            "silent": _document(self.silent),
            "matches": _documents(self.matches),
            "overlap": _documents(self.overlap),
            "right": self.right and _documents(self.right),
            "right_when_said": _document(self.right_when_said),
        }


def _document(figure: Figure | None) -> dict[str, float] | None:
    return figure and figure.to_document()


def _documents(figures: Mapping[str, Figure | None]) -> dict[str, dict[str, float] | None]:
    return {method: _document(figure) for method, figure in figures.items()}


def recommendation_quality(
    runs: Sequence[Run], rules: CompetenceRules, random: Random, gold: Gold
) -> RecommendationQuality:
    """Ask for a recommendation for each task, with the task's own runs left out."""
    asked = list(_ask(runs, rules, random))
    first = Counter(_first(each, "votes") for each in asked if each.answers["votes"])
    ((commonest, _),) = first.most_common(1) or [(frozenset(), 0)]
    mean = _Mean(asked, random)
    said = _Mean([each for each in asked if not each.silent], random)
    judged = bool(gold.answers)
    return RecommendationQuality(
        tasks=len({each.task for each in asked}),
        distinct=len(first),
        seed_distinct=len({_first(each, "seed") for each in asked if each.answers["seed"]}),
        commonest_share=mean.of(lambda each: [_first(each, "votes") == commonest]),
        silent=mean.of(lambda each: [each.silent]),
        matches=mean.of_each(_matches),
        overlap=mean.of_each(_overlaps),
        right=mean.of_each(partial(_right, gold)) if judged else None,
        right_when_said=said.of(lambda each: _right(gold, each, "votes")) if judged else None,
    )


class _Mean:
    """The mean of what is measured of each task, and its spread over tasks."""

    def __init__(self, asked: Sequence[_Asked], random: Random) -> None:
        self._asked = asked
        self._random = random

    def of_each(
        self, measure: Callable[[_Asked, str], Sequence[float]]
    ) -> dict[str, Figure | None]:
        return {name: self.of(partial(_called, measure, name)) for name in METHODS}

    def of(self, measure: Callable[[_Asked], Sequence[float]]) -> Figure | None:
        sums: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        for each in self._asked:
            values = measure(each)
            sums[each.task][0] += fsum(values)
            sums[each.task][1] += len(values)

        def mean(times: Counter[str]) -> float | None:
            count = fsum(times[task] * sums[task][1] for task in times)
            return fsum(times[task] * sums[task][0] for task in times) / count if count else None

        return over_tasks(sorted(sums), mean, self._random)


def _called(
    measure: Callable[[_Asked, str], Sequence[float]], method: str, asked: _Asked
) -> Sequence[float]:
    return measure(asked, method)


def _ask(runs: Sequence[Run], rules: CompetenceRules, random: Random) -> Iterator[_Asked]:
    by_source: defaultdict[str, list[Run]] = defaultdict(list)
    for run in runs:
        by_source[run.source].append(run)
    tasks = sorted({run.task_id for run in runs})
    most = min(len(tasks), max(_LEAST_TASKS, _MOST_COUNTED // max(1, len(runs))))
    drawn = set(random.sample(tasks, most))
    for source in sorted(by_source):
        own = by_source[source]
        yield from _ask_within(own, own if len(own) >= _OWN_SOURCE_FROM else runs, drawn, rules)


def _ask_within(
    own: Sequence[Run], known: Sequence[Run], drawn: set[str], rules: CompetenceRules
) -> Iterator[_Asked]:
    specific = specific_tools(known)
    newest = max(run.ended_at for run in known)
    by_task: defaultdict[str, list[Run]] = defaultdict(list)
    for run in own:
        if run.task_id in drawn:
            by_task[run.task_id].append(run)
    for task, mine in sorted(by_task.items()):
        rest = [run for run in known if run.task_id != task]
        text = next((run.instruction or run.trigger for run in mine if run.instruction), "")
        found = recommend(ballots_of(rest), text, now=newest)
        voted = frozenset(found.ranked[0].tools) if found.ranked else None
        past = Counter(_tools(run) for run in rest if run.success)
        yield _Asked(
            task,
            {
                "votes": _only(voted),
                "commonest": _only(min(past, key=lambda t: (-past[t], sorted(t)), default=None)),
                "random": {tools: count / past.total() for tools, count in past.items()},
                "seed": _only(choose_by_seed(rest, rules, text)),
            },
            found.needs_more,
            tuple(_tools(run) for run in mine if run.success),
            specific,
        )


def _tools(run: Run) -> Tools:
    return frozenset(run.order)


def _only(tools: Tools | None) -> Mapping[Tools, float]:
    return {} if tools is None else {tools: 1.0}


def _first(asked: _Asked, method: str) -> Tools | None:
    return next(iter(asked.answers[method]), None)


def _matches(asked: _Asked, method: str) -> list[float]:
    return _per_success(asked, method, lambda one, other: float(one == other), asked.specific)


def _overlaps(asked: _Asked, method: str) -> list[float]:
    def overlap(one: Tools, other: Tools) -> float:
        return len(one & other) / len(one | other) if one | other else 1.0

    return _per_success(asked, method, overlap, None)


def _per_success(
    asked: _Asked, method: str, measure: Callable[[Tools, Tools], float], only: Tools | None
) -> list[float]:
    """Return a measure of what was recommended against each success of the task itself."""
    return [
        fsum(
            chance * measure(*((tools, used) if only is None else (tools & only, used & only)))
            for tools, chance in asked.answers[method].items()
        )
        for used in asked.successes
    ]


def _right(gold: Gold, asked: _Asked, method: str) -> list[float]:
    if asked.task not in gold.answers:
        return []
    wanted = gold.answers[asked.task] & gold.changing
    return [
        fsum(
            chance
            for tools, chance in asked.answers[method].items()
            if tools & gold.changing == wanted
        )
    ]
