"""Recommend a procedure to each task without its own runs, and compare with baselines.

The same runs and seed always give the same figures.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from math import fsum, sqrt
from random import Random
from typing import Any, Final, NamedTuple

from trackrecord.learning.advice.runs.runs import Run
from trackrecord.learning.competences.phrases import phrases_of
from trackrecord.learning.competences.record import typical_order
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.learning.competences.selection import UNKNOWN, selection_score
from trackrecord.learning.text.words import similarity

# Advice is counted anew for each task: of very many tasks, fewer are asked about.
_MOST_COUNTED: Final = 500_000
_LEAST_TASKS: Final = 30
# Specific tools are those of a source; one with fewer runs has those of all sources.
_OWN_SOURCE_FROM: Final = 20
METHODS: Final = ("votes", "commonest", "random", "seed")
_HANDED_OUT: Final = "handed out"
_RESAMPLES: Final = 200
# Fewer runs, or those of fewer tasks, say nothing.
LEAST_RUNS: Final = 10
LEAST_TASKS: Final = 2

Tools = frozenset[str]
# Agreement beyond chance, Cohen's kappa: "almost perfect" in the words of Landis and Koch.
_AGREED_FROM: Final = 0.8


class Figure(NamedTuple):
    """A measured number.

    Attributes:
        value: its mean.
        spread: the standard deviation over resampled tasks.
    """

    value: float
    spread: float


class Advised(NamedTuple):
    """The recommendation for a task.

    Attributes:
        voted: the tools that most votes speak for; None where nothing gets a vote.
        needs_more: whether the votes are too scattered to act on, or there are none.
        handed_out: the tools of the first procedure that its prompt names; None if it names none.
    """

    voted: Tools | None
    needs_more: bool
    handed_out: Tools | None


# What answers, by the text of a task and the agent that asks.
Adviser = Callable[[str, str], Advised]
# Makes one of the runs that are known.
Advise = Callable[[Sequence[Run]], Adviser]


@dataclass(frozen=True)
class Gold:
    """The right answer for a task, where a benchmark has one.

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
        handed_out: whether the task's prompt would have named a procedure.
        successes: the tools of the task's own successful runs, of which no method knew.
        specific: the tools that a task calls for, whoever does it.
    """

    task: str
    answers: Mapping[str, Mapping[Tools, float]]
    silent: bool
    handed_out: bool
    successes: tuple[Tools, ...]
    specific: Tools


@dataclass(frozen=True)
class RecommendationQuality:
    """The quality of recommendations.

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
        handed_out: how often the prompt would have named a procedure.
        handed_out_matches: the share of the task's successful runs that used just the tools of the
            first procedure named, among the specific ones.
        handed_out_right: how often those that change something are the benchmark's; None without
            one.
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
    handed_out: Figure | None
    handed_out_matches: Figure | None
    handed_out_right: Figure | None


@dataclass(frozen=True)
class Evaluation:
    """Predictions about runs, compared with their outcomes.

    Attributes:
        runs: the number of runs.
        tasks: the distinct tasks among them.
        sources: the distinct agents that ran them.
        base_rate: successes ÷ runs.
        recommendation: procedures recommended for tasks of which no run is known.
    """

    runs: int
    tasks: int
    sources: int
    base_rate: float
    recommendation: RecommendationQuality


def evaluation_document(found: Evaluation) -> dict[str, Any]:
    """Return an evaluation as a JSON object; shares and measures to six digits."""
    document: dict[str, Any] = _rounded(asdict(found))
    return document


def _rounded(value: Any) -> Any:  # noqa: ANN401 - a part of a document
    if isinstance(value, Figure):
        return _rounded(value._asdict())
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return round(value, 6) if isinstance(value, float) else value


def evaluate_runs(
    runs: Sequence[Run],
    rules: CompetenceRules,
    advise: Advise,
    *,
    seed: int,
    gold: Gold,
) -> Evaluation:
    """Evaluate advice on runs.

    The same runs and seed always give the same figures.

    Args:
        runs: at least `LEAST_RUNS`, of at least `LEAST_TASKS` tasks.
        rules: the rules of competence records, which are the baseline.
        advise: returns, from the runs that are known, what tells a task by its text.
        seed: of all that is drawn.
        gold: what would have been right, where a benchmark says so.
    """
    runs = sorted(runs, key=lambda run: run.outcome)
    random = Random(seed)
    return Evaluation(
        runs=len(runs),
        tasks=len({run.task_id for run in runs}),
        sources=len({run.source for run in runs}),
        base_rate=sum(run.success for run in runs) / len(runs),
        recommendation=recommendation_quality(runs, rules, random, gold, advise),
    )


def recommendation_quality(
    runs: Sequence[Run], rules: CompetenceRules, random: Random, gold: Gold, advise: Advise
) -> RecommendationQuality:
    """Ask for a recommendation for each task, with the task's own runs left out.

    The runs of all sources are known, as they are when a prompt is made.
    """
    asked = list(_ask(runs, rules, random, advise))
    first = Counter(_first(each, "votes") for each in asked if each.answers["votes"])
    ((commonest, _),) = first.most_common(1) or [(frozenset(), 0)]
    mean = _Mean(asked, random)
    said = _Mean([each for each in asked if not each.silent], random)
    handed = _Mean([each for each in asked if each.handed_out], random)
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
        handed_out=mean.of(lambda each: [each.handed_out]),
        handed_out_matches=handed.of(lambda each: _matches(each, _HANDED_OUT)),
        handed_out_right=(
            handed.of(lambda each: _right(gold, each, _HANDED_OUT)) if judged else None
        ),
    )


def over_tasks(
    tasks: Sequence[str], measure: Callable[[Counter[str]], float | None], random: Random
) -> Figure | None:
    """Return a measure of all tasks, and its standard deviation over resampled tasks.

    Args:
        tasks: the distinct tasks.
        measure: computes it, given how often each task counts; None where it is not defined.
        random: draws the tasks.
    """
    value = measure(Counter(tasks))
    if value is None:
        return None
    again = (measure(Counter(random.choices(tasks, k=len(tasks)))) for _ in range(_RESAMPLES))
    return Figure(value, _deviation([each for each in again if each is not None]))


def _deviation(values: Sequence[float]) -> float:
    if len(values) < 2:
        return 0.0
    mean = fsum(values) / len(values)
    return sqrt(fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


class _Mean:
    """The mean of a measure over tasks, and its spread."""

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


def _ask(
    runs: Sequence[Run], rules: CompetenceRules, random: Random, advise: Advise
) -> Iterator[_Asked]:
    tasks = sorted({run.task_id for run in runs})
    most = min(len(tasks), max(_LEAST_TASKS, _MOST_COUNTED // max(1, len(runs))))
    drawn = set(random.sample(tasks, most))
    specific = _specific_tools(runs)
    by_task: defaultdict[str, list[Run]] = defaultdict(list)
    for run in runs:
        if run.task_id in drawn:
            by_task[run.task_id].append(run)
    for task, mine in sorted(by_task.items()):
        rest = [run for run in runs if run.task_id != task]
        yield from _ask_about(task, mine, rest, rules, specific, advise(rest))


def _specific_tools(runs: Sequence[Run]) -> Mapping[str, Tools]:
    """Return the specific tools of each source: agents may have different tools."""
    by_source: defaultdict[str, list[Run]] = defaultdict(list)
    for run in runs:
        by_source[run.source].append(run)
    return {
        source: specific_tools(own if len(own) >= _OWN_SOURCE_FROM else runs)
        for source, own in sorted(by_source.items())
    }


def _ask_about(
    task: str,
    mine: Sequence[Run],
    rest: Sequence[Run],
    rules: CompetenceRules,
    specific: Mapping[str, Tools],
    told: Adviser,
) -> Iterator[_Asked]:
    """Yield one task of each source that worked on it, with the evidence of the other tasks."""
    past = Counter(_tools(run) for run in rest if run.success)
    commonest = _only(min(past, key=lambda t: (-past[t], sorted(t)), default=None))
    by_chance = {tools: count / past.total() for tools, count in past.items()}
    for source in sorted({run.source for run in mine}):
        own = [run for run in mine if run.source == source]
        text = next((run.instruction or run.trigger for run in own if run.instruction), "")
        found = told(text, source)
        yield _Asked(
            task,
            {
                "votes": _only(found.voted),
                "commonest": commonest,
                "random": by_chance,
                "seed": _only(choose_by_seed(rest, rules, text)),
                _HANDED_OUT: _only(found.handed_out),
            },
            found.needs_more,
            found.handed_out is not None,
            tuple(_tools(run) for run in own if run.success),
            specific[source],
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
    """Return a measure of the recommendation against each success of the task itself."""
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


def choose_by_seed(runs: Iterable[Run], rules: CompetenceRules, task: str) -> frozenset[str] | None:
    """Return the tools of the record that `--by seed` selects; None without a record.

    Only how well the words fit and the raw success rate tell records apart: recorded runs are
    equally recent.

    Args:
        runs: what the records are made from.
        rules: from how many successes on a procedure has a record.
        task: the text of the task at hand.
    """
    orders: defaultdict[frozenset[str], list[Run]] = defaultdict(list)
    for run in runs:
        if procedure := run.order:
            orders[frozenset(procedure)].append(run)
    scores = {
        tools: _score(found, task)
        for tools, found in orders.items()
        if sum(run.success for run in found) >= rules.min_successes
    }
    return min(scores, key=lambda tools: (-scores[tools], sorted(tools)), default=None)


def _score(runs: list[Run], task: str) -> float:
    order = typical_order(Counter(run.order for run in runs if run.success))
    signals = {run.trigger for run in runs if run.trigger}
    fit = similarity(task, phrases_of(signals, order))
    rate = fsum(run.success for run in runs) / len(runs)
    return selection_score(applicability=UNKNOWN if fit is None else fit, success=rate, recency=1.0)


def specific_tools(runs: Sequence[Run]) -> frozenset[str]:
    """Return the tools on whose use the successful runs of one task agree.

    Tools for looking around are used or not, whatever the task. Where no task has two successful
    runs, the tools are returned that fewer than half of all runs used.
    """
    by_task: defaultdict[str, list[Run]] = defaultdict(list)
    for run in runs:
        if run.success:
            by_task[run.task_id].append(run)
    several = [found for found in by_task.values() if len(found) > 1]
    if not several:
        return _rare(runs)
    tools = {tool for found in several for run in found for tool in run.tools}
    return frozenset(tool for tool in tools if _agreement(tool, several) >= _AGREED_FROM)


def _rare(runs: Sequence[Run]) -> frozenset[str]:
    uses = Counter(tool for run in runs for tool in run.tools)
    return frozenset(tool for tool, count in uses.items() if 2 * count < len(runs))


def _agreement(tool: str, groups: Iterable[list[Run]]) -> float:
    """Return Cohen's kappa over the pairs of runs within each group; 0 if all runs are alike."""
    pairs = agreed = runs = users = 0
    for group in groups:
        using, size = sum(tool in run.tools for run in group), len(group)
        pairs += size * (size - 1) // 2
        agreed += using * (using - 1) // 2 + (size - using) * (size - using - 1) // 2
        runs += size
        users += using
    share = users / runs
    by_chance = share**2 + (1 - share) ** 2
    return (agreed / pairs - by_chance) / (1 - by_chance) if by_chance < 1 else 0.0
