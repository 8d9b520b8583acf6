"""`trackrecord import AGENT`: find the sessions, publish the new ones, and learn from them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trackrecord.errors import ImportFormatError
from trackrecord.learning.text.inert import one_line
from trackrecord.learning.text.numerals import counted
from trackrecord.resources.reports.agents_work import work_of_agents
from trackrecord.resources.reports.outcomes import outcomes_elsewhere, project_on_record
from trackrecord.settings.projects.project_claims import ProjectClaims
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.database.engine import reading
from trackrecord_capture.agents.installed import read_installed
from trackrecord_capture.history.counts import ReadingCounts
from trackrecord_capture.history.parallel import LogPart, LogReaders, outcome_maker, processes_for
from trackrecord_capture.history.reading import LogReading, has_news, read_and_publish, start_of
from trackrecord_capture.history.repository_news import read_repositories, repository_news
from trackrecord_capture.history.state import CaptureState
from trackrecord_capture.projects import run_projects
from trackrecord_capture.sources.register import agent_of, find_logs, known_sources
from trackrecord_capture.sources.unread_files import unread_remarks
from trackrecord_consolidation.forget import move_outcomes
from trackrecord_consolidation.run import consolidate
from trackrecord_producers.bodies.body import build_wire_body
from trackrecord_producers.publishing.checked_outcomes import CheckedOutcome

from ..access import open_redis, open_store
from ..output.screen import print_json, progress_bar, telling_what_was_done
from ..publishing import Publication, find_known, so_far, wait_until_learnt
from .page import print_page
from .servers import servers_for

if TYPE_CHECKING:
    import redis
    from rich.progress import Progress, TaskID
    from sqlalchemy import Engine

    from trackrecord.resources.reports.agents_work import ProjectWork
    from trackrecord_capture.history.reading import Found as FoundOne
    from trackrecord_capture.projects import RunProjects
    from trackrecord_capture.sources.source import Log, Source

    from ..publishing import Published


_BATCH = 200
_BATCH_BYTES = 4 * 1024 * 1024


class PublicationSink:
    """Takes the outcomes of an import; see `trackrecord_capture.history.sink.Sink`.

    Args:
        publication: publishes them.
        max_bytes: the largest outcome that is allowed.

    Attributes:
        projects: the project of each run, by its outcome_id.
    """

    def __init__(self, publication: Publication, *, max_bytes: int) -> None:
        self._publication = publication
        self._max_bytes = max_bytes
        self._batch: list[CheckedOutcome] = []
        self._bytes = 0
        self.projects: dict[str, str] = {}

    def publish(self, fields: dict[str, Any]) -> None:
        """Take one outcome; batches of them go to Redis.

        Raises:
            InvalidOutcome: it is not an outcome; the message repeats nothing of its content.
            ServerUnavailable: Redis went away.
        """
        outcome_id, body = build_wire_body(fields, max_bytes=self._max_bytes)
        self._batch.append(CheckedOutcome(fields["project"], outcome_id, body))
        self._bytes += len(body)
        if fields.get("captured_from") != "repository":
            self.projects[outcome_id] = fields["project"]
        if len(self._batch) >= _BATCH or self._bytes >= _BATCH_BYTES:
            self.settle()

    def settle(self) -> int:
        """Send everything that was accepted, without dropping any of it.

        Raises:
            ServerUnavailable: Redis went away.
        """
        self._publication.publish(self._batch)
        self._batch, self._bytes = [], 0
        return 0


ALL = "all"
_MOST_NAMED = 10
_LONGEST_LINE = 1000
_BAD = 2
_NOTHING = 1
_ELSEWHERE = "`trackrecord import AGENT FOLDER` reads others, `trackrecord demo` shows a fleet"

Found = list[tuple["Source", "Log"]]


@dataclass(frozen=True)
class ImportRequest:
    """The parameters of an import.

    Attributes:
        agents: the name of an agent, or "all".
        paths: where its logs are; empty for the places where it keeps them.
        project: whose outcomes they are; None for the project of each run's folder.
        again: whether logs are read from their start, although nothing in them is new.
    """

    agents: str
    paths: tuple[Path, ...] = ()
    project: str | None = None
    again: bool = False


def import_history(wanted: ImportRequest, *, as_json: bool) -> int:
    """Import recorded sessions, show what was learnt from them, and return the exit status.

    Raises:
        ImportFormatError: a path cannot be used.
        ServerUnavailable: Redis or the database cannot be reached.
    """
    settings = load_settings()
    found, places = _find(wanted)
    for remark in () if wanted.paths else unread_remarks(_sources(wanted)):
        click.echo(f"trackrecord: {one_line(remark, _LONGEST_LINE)}", err=True)
    if not found:
        of_all = wanted.agents == "all" and not wanted.paths
        where = "the folders of any agent" if of_all else ", ".join(map(str, places))
        click.echo(f"no recorded sessions in {where}; {_ELSEWHERE}", err=True)
        return _NOTHING
    counts, published = ReadingCounts(), None
    renamed = _renamed(settings)
    with CaptureState(settings.home) as state:
        new = [each for each in found if wanted.again or has_news(*each, state)]
        counts.unchanged = len(found) - len(new)
        if new or repository_news(state):
            published = _import(settings, wanted, new, state, counts)
    if as_json:
        print_json(_document(counts, published, _works(settings)))
    elif published is None:
        click.echo(f"{_summary(counts, published)}; `trackrecord lessons` shows what was learnt")
    else:
        works = _works(settings)
        click.echo(f"{_summary(counts, published)}\n")
        print_page(works, is_installed=bool(read_installed(settings.home)))
    for line in sorted(_renamed(settings) - renamed):
        click.echo(f"trackrecord: {one_line(line, _LONGEST_LINE)}", err=True)
    return _say_problems(counts, published)


def _renamed(settings: Settings) -> set[str]:
    """Return a line on each project that did not get its repository's name."""
    origins = ProjectClaims(settings.home).origins()
    return {origin.remark for origin in origins if origin.is_renamed}


def _find(wanted: ImportRequest) -> tuple[Found, list[Path]]:
    """Return the logs, the oldest agents' first, and the places that were searched."""
    for path in wanted.paths:
        if not path.exists():
            message = f"{path} does not exist"
            raise ImportFormatError(message)
    sources = _sources(wanted)
    searched = [place for source in sources for place in wanted.paths or source.homes()]
    return find_logs(sources, wanted.paths), list(dict.fromkeys(searched))


def _sources(wanted: ImportRequest) -> Sequence[Source]:
    if wanted.agents == ALL:
        return tuple(known_sources().values())
    return (agent_of(wanted.agents).source,)


def _import(
    settings: Settings,
    wanted: ImportRequest,
    new: Found,
    state: CaptureState,
    counts: ReadingCounts,
) -> Published:
    publication: Publication | None = None
    with (
        telling_what_was_done(lambda: so_far(publication)),
        progress_bar(of_bytes=True) as progress,
    ):
        task = progress.add_task("starting Redis and a worker", total=None)
        with servers_for(settings), open_redis(settings) as client:
            progress.remove_task(task)
            publication = Publication(client, settings, find_known(settings), are_safe=True)
            sink = PublicationSink(publication, max_bytes=settings.max_body_bytes)
            outdated = _read(settings, wanted, new, state, sink, counts, progress)
            again = replace(wanted, again=True)
            _read(settings, again, outdated, state, sink, ReadingCounts(), progress)
            counts.amended += read_repositories(state, sink)
            sink.settle()
            published = publication.published
            _learn(settings, client, sink, state, published, progress)
            publication.find_not_learnt()
    return published


def _read(
    settings: Settings,
    wanted: ImportRequest,
    new: Found,
    state: CaptureState,
    sink: PublicationSink,
    counts: ReadingCounts,
    progress: Progress,
) -> Found:
    """Publish what is new in logs; return those that are to be read again."""
    projects = run_projects(
        settings.capture, settings.home, partial(_project_on_record, settings), wanted.project or ""
    )
    if wanted.project is not None:
        ProjectClaims(settings.home).reserve(wanted.project)
    outcome_of = outcome_maker(settings.capture, projects)
    bar = progress.add_task("reading", total=sum(log.size for _, log in new))
    parts = [
        LogPart(source, log, start_of(source, log, state, everything=wanted.again))
        for source, log in new
    ]
    done, changed = 0, []
    with _readers(settings, parts, projects) as read:
        for number, (part, found) in enumerate(read, start=1):
            shown = f"reading {part.source.name} {number}/{len(parts)} logs"
            progress.update(bar, description=shown)
            reading = LogReading(
                outcome_of=outcome_of,
                with_automated=settings.capture.programs,
                everything=wanted.again,
                progress=partial(_show, progress, bar, done),
            )
            counts.add(read_and_publish(part.source, part.log, state, sink, reading, found))
            done += part.log.size
            progress.update(bar, completed=done)
            if named := projects.take_answers():
                changed.append(((part.source, part.log), named))
    progress.refresh()
    progress.remove_task(bar)
    # What was read later may tell whose a folder that is gone was.
    return [log for log, named in changed if projects.are_outdated(named)]


def _project_on_record(settings: Settings, outcome_id: str) -> str:
    with open_store(settings) as engine, reading(engine) as connection:
        return project_on_record(connection, outcome_id)


@contextmanager
def _readers(
    settings: Settings, parts: Sequence[LogPart], projects: RunProjects
) -> Iterator[Iterable[tuple[LogPart, Iterable[FoundOne] | None]]]:
    """Yield what reads logs: several processes where there is much to read, else this one."""
    count = processes_for(parts)
    if not count:
        yield ((part, None) for part in parts)
        return
    programs = settings.capture.programs
    with LogReaders(count, with_automated=programs, projects=projects) as readers:
        yield readers.read(parts)


def _show(progress: Progress, bar: TaskID, done: int, position: int) -> None:
    progress.update(bar, completed=done + position)


def _learn(
    settings: Settings,
    client: redis.Redis,
    sink: PublicationSink,
    state: CaptureState,
    published: Published,
    progress: Progress,
) -> None:
    """Wait until everything is learnt, and make the records that the nightly job would make."""
    bar = progress.add_task("learning", total=None)
    wait_until_learnt(client, settings.keys, published)
    with open_store(settings) as engine:
        _move(settings, engine, sink, state)
        for project in sorted(set(sink.projects.values())):
            progress.update(bar, description="consolidating")
            consolidate(engine, settings.competence, project, now=time.time(), actor="command line")


def _move(settings: Settings, engine: Engine, sink: PublicationSink, state: CaptureState) -> None:
    """Take runs whose project has changed out of the project that they were in."""
    with reading(engine) as connection:
        found = outcomes_elsewhere(connection, sink.projects)
    for project, moved in found.items():
        state.forget(project, moved)
        if not move_outcomes(engine, settings.rules, project, moved, now=time.time()):
            ProjectClaims(settings.home).forget(project)


def _works(settings: Settings) -> list[ProjectWork]:
    with open_store(settings) as engine, reading(engine) as connection:
        return work_of_agents(connection, settings)


def _summary(counts: ReadingCounts, published: Published | None) -> str:
    amended = f"; {counted(counts.amended, 'run')} amended by what became of commits"
    if not counts.logs:
        told = f"nothing new in {counted(counts.unchanged, 'log')}"
        return told + amended if counts.amended else told
    told = f"{counted(counts.runs, 'run')} read from {counted(counts.logs, 'log')}"
    if known := _known(counts, published):
        told += f", {known} of them known already"
    if published is not None and published.not_learnt:
        told += f", {published.not_learnt} forgotten or older than what is kept"
    if counts.unchanged:
        told += f"; nothing new in {counted(counts.unchanged, 'log')}"
    if counts.amended:
        told += amended
    if counts.left_out:
        told += f"; {counted(counts.left_out, 'run')} left out"
    if counts.copied:
        told += f"; {counted(counts.copied, 'run')} of forked or copied sessions not counted again"
    return told


def _known(counts: ReadingCounts, published: Published | None) -> int:
    """Return how many of the runs were on record; each amendment concerns one that was."""
    known = published.known if published is not None else None
    return max(0, (known or 0) - counts.amended)


def _document(
    counts: ReadingCounts, published: Published | None, works: Sequence[ProjectWork]
) -> dict[str, Any]:
    return {
        "logs": counts.logs,
        "unchanged": counts.unchanged,
        "runs": counts.runs,
        "known": _known(counts, published),
        "not_learnt": 0 if published is None else published.not_learnt,
        "amended": counts.amended,
        "left_out": counts.left_out,
        "copied": counts.copied,
        "refused": counts.refused,
        "bad": [
            {"log": str(path), "place": bad.place, "reason": bad.reason}
            for path, bad in counts.named
        ],
        "projects": [work.to_document() for work in works],
    }


def _say_problems(counts: ReadingCounts, published: Published | None) -> int:
    """Name on standard error what could not be imported; return the exit status."""
    lines = [f"{path}, {bad.place}: {bad.reason}" for path, bad in counts.named[:_MOST_NAMED]]
    lines += [f"runs were refused: {reason}" for reason in counts.reasons[:_MOST_NAMED]]
    set_aside = published.refused if published is not None else {}
    lines += [f"{name} was set aside: {why}" for name, why in list(set_aside.items())[:_MOST_NAMED]]
    for line in lines:
        click.echo(f"trackrecord: {one_line(line, _LONGEST_LINE)}", err=True)
    total = counts.bad + counts.refused + len(set_aside)
    if total > len(lines):
        click.echo(f"trackrecord: and {total - len(lines)} more", err=True)
    return _BAD if total else 0
