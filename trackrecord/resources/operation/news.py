"""News: what changed of a project between two moments, the oldest first."""

from __future__ import annotations

import time
from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from trackrecord.errors import InvalidRequest
from trackrecord.learning.numbers.decay import DAY
from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.learning.text.inert import one_line, quoted
from trackrecord.learning.text.times import iso
from trackrecord.resources.access.project_store import project_row, read_project
from trackrecord.resources.access.redis_server import open_redis
from trackrecord.resources.declaration.checks import Limit, Moment, moment_of
from trackrecord.resources.declaration.paging import sorting_of
from trackrecord.resources.declaration.resource import Answer, Instant, Resource

if TYPE_CHECKING:
    import redis
    from sqlalchemy import Connection

    from trackrecord.settings.agent_settings import AgentSettings
    from trackrecord.store.patterns.transitions import RecentTransition

_LONGEST_SHOWN: Final = 200
# Two command lines, each within the bounds of a hint.
_LONGEST_DEFECT: Final = 800


class NewsKind(StrEnum):
    """The kinds of news."""

    PROVEN = "pattern.proven"
    BROKE = "pattern.broke"
    WARNING = "pattern.warning"
    LIFTED = "pattern.lifted"
    LESSON = "lesson.appeared"
    DEFECT = "defect.began"
    DEFECT_ENDED = "defect.ended"
    CONSOLIDATION_FAILED = "consolidation.failed"


class News(Answer, frozen=True):
    """One thing that changed.

    Attributes:
        kind: in which way.
        at: when.
        text: one sentence about it.
        project: whose experience; null where it concerns the whole store.
        subject: the id of the pattern, the lesson or the command; "" where there is none.
        numbers: the counts of the moment, by name.
    """

    kind: NewsKind
    at: Instant
    text: str
    project: str | None
    subject: str
    numbers: dict[str, int]

    @property
    def of(self) -> str | None:
        """The subject, if there is one."""
        return self.subject or None


NEWS = Resource("news", "List recent changes.")


@NEWS.offers(
    "GET /news",
    command="news",
    sorting=sorting_of("pieces of news", "kind subject", at="at", kind="kind", subject="of"),
    in_pages=True,
    columns=("at", "what", "of"),
    about="what",
    secondary=("at",),
    cells={"what": lambda news: news.text, "of": lambda news: news.subject},
    nothing="nothing changed in project {project!r}",
    option_help={"since": "Start after this moment.  [default: a day ago]"},
)
def list_news(
    *, since: Moment | None = None, limit: Limit | None = 100, project: str | None = None
) -> list[News]:
    """List what changed: patterns that became proven or warnings, lessons that appeared.

    The list covers the last day, newest first.

    Args:
        since: the moment after which it begins; a day ago when not given.
        limit: the maximum number of pieces of news to return; all when None.
        project: whose experience; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    until = time.time()
    start = moment_of(since)
    if start is None:
        start = until - DAY
    if start > until:
        message = "since must not be later than now"
        raise InvalidRequest(message)
    with open_redis() as (client, settings), read_project(project) as it:
        found = changes_between(
            it.connection, client, settings, it.project, since=start, until=until
        )
    return found[::-1][:limit]


def changes_between(
    connection: Connection,
    client: redis.Redis | None,
    settings: AgentSettings,
    project: str,
    *,
    since: float,
    until: float,
) -> list[News]:
    """Return what changed after one moment and up to another one, the oldest first.

    Args:
        connection: a reading transaction.
        client: where it is noted when lessons appeared and standing defects began; None to leave
            both out.
        settings: where that is.
        project: whose experience.
        since: the first moment, seconds since the epoch.
        until: the last moment.

    Raises:
        UnknownProject: nothing is on record for the project.
        redis.RedisError: Redis cannot be read.
    """
    from trackrecord.prompt.reading.noted_news import appeared_lessons, changed_defects
    from trackrecord.store.competences.consolidation.runs import failed_runs, run_lease_name
    from trackrecord.store.patterns.transitions import recent_transitions

    project_id = project_row(connection, project)
    found = list(
        _of_patterns(project, recent_transitions(connection, project_id, since=since, until=until))
    )
    failed = failed_runs(
        connection, project_id, lease=run_lease_name(project), since=since, until=until
    )
    found += [_failed_run(project, started) for started in failed]
    if client is not None:
        found += [
            News(
                NewsKind.LESSON,
                each.at,
                f"A lesson appeared: {_shown(each.line)}.",
                project,
                each.lesson_id,
                {"runs": each.runs, "tasks": each.tasks},
            )
            for each in appeared_lessons(client, settings, project, since=since, until=until)
        ]
        noted = changed_defects(client, settings, project, since=since, until=until)
        found += [
            News(
                NewsKind.DEFECT_ENDED if each.ended_at else NewsKind.DEFECT,
                at,
                f"{_shown(each.text, _LONGEST_DEFECT)}.",
                project,
                each.id,
                {"sessions": each.sessions},
            )
            for at, each in noted
        ]
    return sorted(found, key=lambda each: each.at)


def _of_patterns(project: str, transitions: list[RecentTransition]) -> Iterator[News]:
    for change in transitions:
        kind, what = _meaning(change)
        if kind is not None:
            numbers = {
                name: count
                for name in ("helpful", "neutral", "harmful")
                if (count := getattr(change, name)) is not None
            }
            text = f"The pattern {quoted(change.content)} {what}."
            yield News(kind, change.at, text, project, change.slug, numbers)


def _meaning(change: RecentTransition) -> tuple[NewsKind | None, str]:
    counts = ""
    if change.helpful is not None:
        counts = f" ({change.helpful} helpful, {change.harmful} harmful)"
    if change.aspect == "inversion":
        if change.after == "inverted":
            return NewsKind.WARNING, f"became a warning by its counts{counts}"
        return NewsKind.LIFTED, f"stopped being a warning by its counts{counts}"
    if change.after == change.before:
        return None, ""
    if change.after == Maturity.PROVEN:
        return NewsKind.PROVEN, f"became proven{counts}"
    if change.before == Maturity.PROVEN:
        return NewsKind.BROKE, f"stopped being proven and is {change.after} now{counts}"
    return None, ""


def _failed_run(project: str, started: float) -> News:
    return News(
        NewsKind.CONSOLIDATION_FAILED,
        started,
        f"The consolidation of project {project!r} that started at {iso(started)} was not "
        "finished; the log of the worker says why, and the next run does the rest.",
        project,
        "",
        {},
    )


def _shown(text: str, longest: int = _LONGEST_SHOWN) -> str:
    """Return a text on one line, inert, within bounds and without a full stop."""
    return one_line(text, longest).rstrip(".")
