"""News: what changed of a project between two moments, the oldest first."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.learning.text.inert import one_line, quoted
from trackrecord.learning.text.times import iso
from trackrecord.resources.declaration.paging import sorting_of
from trackrecord.resources.declaration.resource import Answer, Instant

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


NEWS: Final = sorting_of("pieces of news", "kind subject", at="at", kind="kind", subject="of")


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
    from trackrecord.prompt.reading.appeared_lessons import appeared_lessons
    from trackrecord.prompt.reading.noted_defects import changed_defects
    from trackrecord.resources.access.project_rows import project_row
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
