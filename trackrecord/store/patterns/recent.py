"""The changes of state of a project's patterns within a time."""

from dataclasses import dataclass

from sqlalchemy import Connection, select

from .tables import pattern_transitions, patterns


@dataclass(frozen=True)
class RecentTransition:
    """One change of state of one pattern.

    Attributes:
        slug: the pattern.
        content: what it says.
        aspect: "maturity" or "inversion".
        before: the state that it left; None for its first one.
        after: the state that it came into; "inverted" or "lifted" for an inversion.
        at: when, seconds since the epoch.
        helpful: outcomes that it helped, at that moment.
        neutral: outcomes without effect.
        harmful: outcomes that it harmed.
    """

    slug: str
    content: str
    aspect: str
    before: str | None
    after: str
    at: float
    helpful: int
    neutral: int
    harmful: int


def recent_transitions(
    connection: Connection, project_id: int, *, since: float, until: float
) -> list[RecentTransition]:
    """Return the changes of state after one moment and up to another one, the oldest first."""
    columns = pattern_transitions.c
    query = (
        select(
            patterns.c.slug, patterns.c.content, columns.aspect, columns.before, columns.after,
            columns.at, columns.helpful, columns.neutral, columns.harmful,
        )
        .join(patterns, patterns.c.id == columns.pattern_id)
        .where(patterns.c.project_id == project_id, columns.at > since, columns.at <= until)
        .order_by(columns.at, columns.id)
    )  # fmt: skip
    return [RecentTransition(*row) for row in connection.execute(query)]
