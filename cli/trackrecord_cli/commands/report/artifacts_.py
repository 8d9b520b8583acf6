"""`trackrecord artifacts`: oversized outputs that are stored whole."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, BinaryIO

import click

from trackrecord.artifacts.pages import Range, page_of
from trackrecord.errors import InvalidArtifactId, UnknownId, UnknownProject
from trackrecord.resources.access.project_store import check_project
from trackrecord.resources.reports.artifacts import ARTIFACTS, ArtifactPage, StoredArtifact

from ...access import settings_for
from ...arguments.options import Read, json_option, name_of, project_option
from ...output.screen import print_json
from ...resource_commands import group_of

if TYPE_CHECKING:
    from trackrecord.artifacts.pages import Unit
    from trackrecord.artifacts.store import ArtifactStore

# Of the newest artifacts, with a mistyped id.
_MOST_COMPARED = 1000


command = group_of(ARTIFACTS)


def _range_of(unit: Unit) -> Read[Range]:
    return Read("a:b", partial(Range.parse, unit))


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

    if lines is not None and in_bytes is not None:
        message = "ask for --lines or for --bytes, not for both"
        raise click.UsageError(message)
    settings, project = settings_for(project)
    store = open_artifacts(settings, project)
    whole, data = _read(store, project, artifact_id)
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


def _read(store: ArtifactStore, project: str, given: str) -> tuple[str, bytes]:
    """Return the full id of an artifact, from an id or its beginning, and its bytes."""
    from trackrecord.resources.access.short_ids import matching, only_match

    try:
        return given, store.get(given)
    except (InvalidArtifactId, UnknownId):
        known = [entry.id for entry in store.entries()]
        whole = only_match(given, matching(given, known))
        if whole is None:
            _suggest(known, project, given)
            raise
    return whole, store.get(whole)


def _suggest(known: list[str], project: str, given: str) -> None:
    """Raise UnknownId, or UnknownProject, if an artifact or a project was probably meant."""
    from trackrecord.resources.access.short_ids import nearest_id

    nearest = nearest_id(given, known[:_MOST_COMPARED])
    if nearest is not None:
        message = f"no artifact {given!r} in project {project!r}"
        raise UnknownId(message, nearest=nearest) from None
    if not known:
        try:
            check_project(project)
        except UnknownProject as error:
            if error.nearest is not None:
                raise error from None
