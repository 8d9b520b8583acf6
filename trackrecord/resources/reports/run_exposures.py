"""The exposure of a run's task, and whether the run followed it."""

from collections.abc import Collection, Iterable, Mapping
from typing import Final, cast

from sqlalchemy import Connection

from trackrecord.learning.advice import entry_ids
from trackrecord.learning.advice.effect.trials import Exposure
from trackrecord.learning.advice.entry_ids import PREFIXES
from trackrecord.learning.advice.runs.runs import NotedRun
from trackrecord.learning.text.slug import ANTI_PREFIX
from trackrecord.store.advice.exposures import exposures_of_task
from trackrecord.store.competences.read import existing_ids, read_named

from .runs import HandedEntry, HandedKind, HandedOut


def is_followed(entry: str, run: NotedRun, tools_of: Mapping[str, frozenset[str]]) -> bool | None:
    """Return whether a run followed an entry; None if its calls cannot show it.

    A pattern is followed by naming it, a procedure by using all of its tools; a warning is followed
    by doing neither.

    Args:
        entry: its id, as it was handed out.
        run: the run.
        tools_of: the tools of records, by id.
    """
    if entry.startswith(entry_ids.FAILING):
        return run.tools != frozenset(entry.removeprefix(entry_ids.FAILING).split("+"))
    if entry in tools_of:
        return tools_of[entry] <= run.tools
    if ":" in entry:  # of a field whose entries no run names
        return None
    if entry.startswith(ANTI_PREFIX):
        return entry.removeprefix(ANTI_PREFIX) not in run.patterns
    return entry in run.patterns


# Clocks of one fleet differ, and a moment may have been rounded to a second.
_CLOCK_SLACK_S: Final = 60.0
# Of a task that is tried again and again, the last ones.
_MOST_EXPOSURES: Final = 10
_RECORD: Final = "skill-"


def exposures_of_run(
    connection: Connection,
    project_id: int,
    task_id: str,
    run: NotedRun | None,
    *,
    ended_at: float,
    at: float | None = None,
) -> tuple[HandedOut, ...]:
    """Return the entries that a run's task was given by the run's end, the newest first.

    Args:
        connection: a reading transaction.
        project_id: whose run.
        task_id: its task.
        run: the run, as it is counted; None where it is not known.
        ended_at: when it ended, seconds since the epoch.
        at: a past moment to answer for.
    """
    until = ended_at + _CLOCK_SLACK_S
    found = exposures_of_task(
        connection, project_id, task_id, until=until, limit=_MOST_EXPOSURES, at=at
    )
    if not found:
        return ()
    tools_of = _tools_of(connection, project_id, {name for each in found for name in each.entries})
    return tuple(_handed(each, run, tools_of) for each in found)


def kind_of(entry: str) -> tuple[HandedKind, str]:
    """Return an exposed entry's kind, and its id in the list of that kind."""
    for prefix in PREFIXES:
        if entry.startswith(prefix):
            return cast("HandedKind", prefix.removesuffix(":")), entry.removeprefix(prefix)
    return ("competence" if entry.startswith(_RECORD) else "pattern"), entry


def _handed(
    exposure: Exposure, run: NotedRun | None, tools_of: dict[str, frozenset[str]]
) -> HandedOut:
    return HandedOut(
        exposure.at,
        exposure.is_withheld,
        exposure.holdout,
        exposure.propensity,
        tuple(
            HandedEntry(entry, *kind_of(entry), _followed(entry, run, tools_of))
            for entry in exposure.entries
        ),
    )


def _followed(entry: str, run: NotedRun | None, tools_of: dict[str, frozenset[str]]) -> bool | None:
    # A record that is gone is not taken for a pattern.
    if run is None or (kind_of(entry)[0] == "competence" and entry not in tools_of):
        return None
    return is_followed(entry, run, tools_of)


def _tools_of(
    connection: Connection, project_id: int, entries: Collection[str]
) -> dict[str, frozenset[str]]:
    named: Iterable[str] = [each for each in entries if each.startswith(_RECORD)]
    known = sorted(existing_ids(connection, project_id, sorted(named)))
    found = read_named(connection, project_id, known)
    return {each: frozenset(record.required_tools) for each, record in found.items()}
