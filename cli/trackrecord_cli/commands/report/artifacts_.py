"""`trackrecord artifacts`: oversized outputs that are stored whole."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, BinaryIO

import click

from trackrecord.resources.declaration.paging import Order
from trackrecord.resources.reports.artifacts import (
    ARTIFACTS,
    Artifact,
    ArtifactPage,
    StoredArtifact,
    list_artifacts,
)

from ...access import check_project, settings_for
from ...arguments.options import (
    Read,
    json_option,
    limit_option,
    name_of,
    project_option,
    sort_option,
)
from ...group import CommandGroup
from ...output.screen import print_json, print_table, say_more, shown_ids

if TYPE_CHECKING:
    from trackrecord.artifacts.pages import Range, Unit
    from trackrecord.artifacts.store import ArtifactStore
    from trackrecord.settings.daemon_settings import DaemonSettings

# Of the newest artifacts, with a mistyped id.
_MOST_COMPARED = 1000
_SORTING = ARTIFACTS.sorting("list")


@click.group("artifacts", cls=CommandGroup)
def command() -> None:
    """Store and return oversized tool outputs."""


def _range_of(unit: Unit) -> Read[Range]:
    return Read("a:b", partial(_parsed, unit))


def _parsed(unit: Unit, text: str) -> Range:
    from trackrecord.artifacts.pages import Range

    return Range.parse(unit, text)


@command.command("put")
@click.argument("source", metavar="[FILE|-]", type=click.File("rb"), default="-")
@click.option(
    "--task",
    "task_id",
    type=Read("id", name_of(256)),
    metavar="TASK_ID",
    help="Note the task that the output came up in.",
)
@click.option(
    "--tool",
    type=Read("name", name_of(128)),
    metavar="NAME",
    help="Note the tool whose output it is.",
)
@project_option
@json_option
def put_artifact(
    source: BinaryIO,
    task_id: str | None,
    tool: str | None,
    project: str | None,
    *,
    as_json: bool,
) -> None:
    """Store a file, or standard input, of any size, and print its id.

    With --json the summary that would take its place is printed, too.
    """
    from trackrecord.artifacts.client import store_output

    settings, project = settings_for(project)
    stored = store_output(settings, project, source.read(), task_id=task_id, tool=tool)
    if not as_json:
        click.echo(stored.id)
        if stored.told.gone:
            click.echo(
                f"trackrecord: too large: {stored.told.gone} bytes of its middle are gone", err=True
            )
        return
    print_json(StoredArtifact.taken(stored, stored.told, task_id=task_id, tool=tool).to_document())


@command.command("get")
@click.argument("artifact_id", metavar="ID")
@click.option("--lines", type=_range_of("lines"), help="Return line a to line b, counted from 1.")
@click.option(
    "--bytes", "in_bytes", type=_range_of("bytes"), help="Return byte a to byte b, counted from 0."
)
@project_option
@json_option
def get_artifact(
    artifact_id: str,
    lines: Range | None,
    in_bytes: Range | None,
    project: str | None,
    *,
    as_json: bool,
) -> None:
    """Return an artifact, or a part of it, byte for byte."""
    from trackrecord.artifacts.client import open_artifacts
    from trackrecord.artifacts.pages import Range, page_of

    if lines is not None and in_bytes is not None:
        message = "ask for --lines or for --bytes, not for both"
        raise click.UsageError(message)
    settings, project = settings_for(project)
    store = open_artifacts(settings, project)
    whole, data = _read(store, settings, project, artifact_id)
    page = page_of(whole, data, lines or in_bytes or Range("bytes", 0))
    if len(page.data) > settings.artifacts.threshold_chars:
        # An agent's shell may be who asks: what it gets is not to become a summary again.
        store.note_retrieved(page.data)
    if as_json:
        document = ArtifactPage.of(page, data).to_document()
        del document["following"]  # a whole part was asked for
        print_json(document)
    else:
        click.echo(bytes(page.data), nl=False)


def _read(
    store: ArtifactStore, settings: DaemonSettings, project: str, given: str
) -> tuple[str, bytes]:
    """Return the full id of an artifact, from an id or its beginning, and its bytes."""
    from trackrecord.errors import InvalidArtifactId, UnknownId
    from trackrecord.resources.access.short_ids import matching, only_match

    try:
        return given, store.get(given)
    except (InvalidArtifactId, UnknownId):
        known = [entry.id for entry in store.entries()]
        whole = only_match(given, matching(given, known))
        if whole is None:
            _suggest(known, settings, project, given)
            raise
    return whole, store.get(whole)


def _suggest(known: list[str], settings: DaemonSettings, project: str, given: str) -> None:
    """Raise UnknownId, or UnknownProject, if an artifact or a project was probably meant."""
    from trackrecord.errors import UnknownId, UnknownProject
    from trackrecord.resources.access.short_ids import nearest_id

    nearest = nearest_id(given, known[:_MOST_COMPARED])
    if nearest is not None:
        message = f"no artifact {given!r} in project {project!r}"
        raise UnknownId(message, nearest=nearest) from None
    if not known:
        try:
            check_project(settings, project)
        except UnknownProject as error:
            if error.nearest is not None:
                raise error from None


@command.command("list")
@click.option(
    "--task",
    "task_id",
    type=Read("id", name_of(256)),
    metavar="TASK_ID",
    help="Show only what was stored for this task.",
)
@project_option
@limit_option("artifacts")
@sort_option(_SORTING)
@json_option
def list_all(
    task_id: str | None,
    project: str | None,
    limit: int | None,
    order: Order | None,
    *,
    as_json: bool,
) -> None:
    """List what is stored for a project, newest first, with its task and tool.

    Equal outputs are stored once; each task and tool that stored one has a row of its own.
    """
    settings, project = settings_for(project)
    outputs = list_artifacts(project=project)
    if not outputs:
        check_project(settings, project)
    found = [output for output in outputs if task_id in (None, output.task_id)]
    if task_id is not None and not found:
        _say_unknown_task(task_id, project, outputs)
    shown = _SORTING.sorted(found, order)[:limit]
    if as_json:
        print_json([output.to_document() for output in shown])
    elif not found:
        click.echo(f"no artifacts of project {project!r}")
    else:
        ids = shown_ids([each.id for each in shown], [each.id for each in outputs])
        print_table(
            ("id", "task", "tool", "kind", "size", "stored at", "kept until"),
            ([*(each.to_document() | {"id": ids[each.id]}).values()][:-1] for each in shown),
            about="task",
            secondary=("kept until", "kind", "size", "stored at"),
        )
        say_more(len(found) - len(shown), "artifacts")


def _say_unknown_task(task_id: str, project: str, outputs: list[Artifact]) -> None:
    """Report that nothing is stored for a task, which is normal, and suggest a similar task."""
    from trackrecord.learning.text.spelling import closest

    nearest = closest(task_id, {output.task_id for output in outputs if output.task_id})
    meant = "" if nearest is None else f"; did you mean {nearest!r}?"
    click.echo(
        f"trackrecord: project {project!r} has no artifact of task {task_id!r}{meant}", err=True
    )
