"""Choosing: the best candidates of a project for a task, ranked where they are stored.

The score is that of `competences.selection`, and the similarity that of `words.similarity`, both
spelt in SQL over what is kept beside each record: of ten thousand only the chosen ones are read.

A word that stands in very many phrases tells little apart and costs the most. So the words of a
task are looked up from the rarest on, up to a number of places; those left out count as found
nowhere. In a project of some hundred records none is left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    CTE,
    BigInteger,
    Connection,
    Double,
    Select,
    case,
    cast,
    func,
    literal,
    literal_column,
    null,
    select,
)
from sqlalchemy.sql.elements import ColumnElement

from trackrecord.learning.competences.phrases import word_numbers
from trackrecord.learning.competences.record import Competence, fit_of_competence
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.learning.competences.selection import UNKNOWN, Choice, Signals, choose, recency
from trackrecord.learning.numbers.decay import DAY

from ..read import read_named
from ..tables import competence_numbers, competence_words
from .selection_index import PHRASE_BITS

# A word in more phrases than that is looked up last, and no more places than that in all.
_COMMON_FROM = 2_500
_MOST_PLACES = 10_000
# Conditions are compared record by record; a worse one would not be acted on.
_MOST_WEIGHED = 1_000
# Beyond so many half-lives nothing is left; PostgreSQL refuses what is too small for a float.
_MOST_HALF_LIVES = 1000.0


@dataclass(frozen=True)
class ScoredRecord:
    """A record, and what its score is made of."""

    record: Competence
    signals: Signals


@dataclass(frozen=True)
class Selected:
    """The answer to a selection.

    Attributes:
        candidates: the best of them, best first.
        count: how many there are.
        choice: how sure the choice of the first one is.
    """

    candidates: tuple[ScoredRecord, ...]
    count: int
    choice: Choice


def signals_of(record: Competence, similar: float | None, now: float) -> Signals:
    """The three parts of a record's score.

    Args:
        record: the candidate.
        similar: how well the task fits it, None when that cannot be compared.
        now: the moment that it is scored for.
    """
    life = record.lifecycle
    return Signals(
        applicability=record.confidence if similar is None else similar,
        success=record.performance.success_rate,
        recency=recency(life.last_reinforced_at, life.half_life_days, now),
    )


def select_competences(
    connection: Connection,
    project_id: int,
    rules: CompetenceRules,
    *,
    task: str | None,
    limit: int,
    now: float,
    applicability: ColumnElement[Any] | None = None,
    conditions: Any = None,  # noqa: ANN401 - whatever JSON the agents gave
) -> Selected:
    """Rank the candidates of a project for a task, as of now.

    Args:
        connection: a reading transaction.
        project_id: the project's row.
        rules: from when on a choice needs more.
        task: its text, if any.
        limit: how many candidates are answered.
        now: the present, seconds since the epoch.
        applicability: over `competence_numbers`, what takes the place of the lexical similarity;
            NULL where a record cannot be compared.
        conditions: the conditions of the task; of the best thousand records, those that were used
            under other ones rank below.
    """
    words = word_numbers(task) if task and applicability is None else frozenset()
    matched = _matched(project_id, _rarest(connection, project_id, words), len(words))
    most = max(limit, 2) if conditions is None else max(limit, _MOST_WEIGHED)
    query = _ranked(project_id, matched if words else None, most, now, applicability)
    rows = connection.execute(query).all()
    records = read_named(connection, project_id, [row.competence_id for row in rows])
    candidates = [
        ScoredRecord(
            records[row.competence_id], signals_of(records[row.competence_id], row.fit, now)
        )
        for row in rows
    ]
    by_id = {each.record.id: each for each in candidates}
    fits = {
        some_id: fit_of_competence(each.record, conditions, task)
        for some_id, each in by_id.items()
        if conditions is not None
    }
    choice = choose(rules, {some_id: each.signals.score for some_id, each in by_id.items()}, fits)
    ranked = tuple(by_id[some_id] for some_id, _ in choice.ranked)
    return Selected(ranked[:limit], _count(connection, project_id), choice)


def _count(connection: Connection, project_id: int) -> int:
    # By itself: a count over the ranked ones would keep all of them until the last is ranked.
    numbers = competence_numbers.c
    query = select(func.count()).where(numbers.project_id == project_id, numbers.is_selectable)
    return connection.execute(query).scalar_one()


def _ranked(
    project_id: int,
    matched: CTE | None,
    limit: int,
    now: float,
    applicability: ColumnElement[Any] | None,
) -> Select[Any]:
    numbers = competence_numbers.c
    origin: Any = competence_numbers
    similar: ColumnElement[Any] = null() if applicability is None else applicability
    if matched is not None:
        origin = competence_numbers.outerjoin(matched, matched.c.words_key == numbers.words_key)
        similar = case(
            (numbers.words_key.is_(None), null()), else_=func.coalesce(matched.c.fit, 0.0)
        )
    score = func.coalesce(similar, numbers.confidence) + _success() + _recency(now)
    return (
        select(
            numbers.competence_id,
            cast(similar, Double).label("fit"),
        )
        .select_from(origin)
        .where(numbers.project_id == project_id, numbers.is_selectable)
        .order_by(score.desc(), numbers.competence_id)
        .limit(limit)
    )


def _rarest(connection: Connection, project_id: int, words: Iterable[int]) -> list[int]:
    """Return the rarest of a task's words, at least one, for the look-up."""
    wanted = sorted(words)
    if not wanted:
        return []
    # Counted no further than it matters.
    counts = " UNION ALL ".join(
        f"SELECT {word}, count(*) FROM (SELECT 1 FROM competence_words "  # noqa: S608 - numbers of ours
        f"WHERE project_id = {project_id} AND word = {word} LIMIT {_COMMON_FROM + 1}) AS w{index}"
        for index, word in enumerate(wanted)
    )
    rows = connection.exec_driver_sql(counts).all()
    places = 0
    chosen: list[int] = []
    for word, count in sorted(rows, key=lambda row: (row[1], row[0])):
        places += count
        if chosen and (count > _COMMON_FROM or places > _MOST_PLACES):
            break
        chosen.append(word)
    return chosen


def _matched(project_id: int, words: list[int], size: int) -> CTE:
    """The best fit of each record that shares one of the words with a task of so many words."""
    table = competence_words.c
    product = cast(func.max(table.size) * size, Double)
    phrases = (
        select(
            table.phrase,
            (cast(func.count(), Double) / func.sqrt(product, type_=Double)).label("fit"),
        )
        .where(table.project_id == project_id, table.word.in_(words))
        .group_by(table.phrase)
        .subquery()
    )
    # PostgreSQL shifts by no more than an integer. SQLite makes an index for the join only of what
    # has a type.
    key = cast(phrases.c.phrase.op(">>")(literal_column(str(PHRASE_BITS))), BigInteger)
    return (
        select(key.label("words_key"), func.max(phrases.c.fit).label("fit"))
        .group_by(key)
        .cte("matched")
        .prefix_with("MATERIALIZED")
    )


def _success() -> ColumnElement[float]:
    numbers = competence_numbers.c
    good = numbers.successes + numbers.credited_successes
    total = good + numbers.failures + numbers.credited_failures
    return case((total > 0, cast(good, Double) / cast(total, Double)), else_=UNKNOWN)


def _recency(now: float) -> ColumnElement[float]:
    numbers = competence_numbers.c
    age = (literal(now, Double) - numbers.last_reinforced_at) / DAY / numbers.half_life_days
    return case(
        (numbers.last_reinforced_at.is_(None), UNKNOWN),
        (age <= 0, 1.0),
        (age > _MOST_HALF_LIVES, 0.0),
        else_=func.power(literal(0.5, Double), age),
    )
