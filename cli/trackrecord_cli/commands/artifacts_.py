"""`trackrecord artifacts`: oversized outputs that are stored whole."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from ..access import check_project, settings_for
from ..group import Group
from ..options import Read, at_option, json_option, limit_option, project_option
from ..screen import print_json, print_table, say_more, shown_ids

if TYPE_CHECKING:
    from trackrecord.artifacts.pages import Page, Range, Unit
    from trackrecord.artifacts.store import ArtifactStore
    from trackrecord.daemon_settings import DaemonSettings

# Of the newest artifacts, with a mistyped id.
_MOST_COMPARED = 1000


@click.group("artifacts", cls=Group)
def command() -> None:
    """Store and return oversized tool outputs."""


def _range_of(unit: Unit) -> Read[Range]:
    return Read("a:b", partial(_parsed, unit))


def _parsed(unit: Unit, text: str) -> Range:
    from trackrecord.artifacts.pages import Range

    return Range.parse(unit, text)


@command.command("put")
@click.argument("source", metavar="[FILE|-]", type=click.File("rb"), default="-")
@project_option
@json_option
def put_artifact(source: BinaryIO, project: str | None, *, as_json: bool) -> None:
    """Store a file, or standard input, of any size, and print its id.

    With --json the summary that would take its place is printed, too.
    """
    from trackrecord.artifacts.client import store_output

    settings, project = settings_for(project)
    stored = store_output(settings, project, source.read())
    if not as_json:
        click.echo(stored.id)
        if stored.told.gone:
            click.echo(
                f"trackrecord: too large: {stored.told.gone} bytes of its middle are gone", err=True
            )
        return
    print_json(
        {
            "id": stored.id,
            "kind": stored.told.kind,
            "size": stored.told.size,
            "lines": stored.told.lines,
            "gone": stored.told.gone,
            "summary": stored.summary,
        }
    )


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
        print_json(_as_document(page, data))
    else:
        click.echo(bytes(page.data), nl=False)


def _read(
    store: ArtifactStore, settings: DaemonSettings, project: str, given: str
) -> tuple[str, bytes]:
    """Return the id of the artifact that an id, or the beginning of one, stands for; its bytes."""
    from trackrecord.errors import InvalidArtifactId, UnknownId
    from trackrecord.queries.short_ids import matching, only_match

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
    from trackrecord.queries.short_ids import nearest_id

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


def _as_document(page: Page, data: bytes) -> dict[str, Any]:
    from base64 import b64encode

    from trackrecord.artifacts.contents import lines_of
    from trackrecord.artifacts.summaries import kind_of_output

    try:
        content, encoding = page.data.decode(), "utf-8"
    except UnicodeDecodeError:
        content, encoding = b64encode(page.data).decode(), "base64"
    return {
        "id": page.id,
        "kind": kind_of_output(data),
        "size": page.size,
        "lines": lines_of(data),
        "start": page.start,
        "end": page.start + len(page.data),
        "encoding": encoding,
        "content": content,
    }


@command.command("list")
@project_option
@at_option
@limit_option("artifacts")
@json_option
def list_artifacts(
    project: str | None, at: float | None, limit: int | None, *, as_json: bool
) -> None:
    """List what is stored for a project, newest first.

    With --at the list holds the artifacts still there that had been stored last by then: what was
    pruned since is gone.
    """
    from trackrecord.artifacts.client import open_artifacts
    from trackrecord.times import iso

    settings, project = settings_for(project)
    entries = open_artifacts(settings, project).entries()
    if not entries:
        check_project(settings, project)
    found = [entry for entry in entries if at is None or entry.stored_at <= at]
    retention_s = settings.artifacts.retention_s
    rows = [
        {
            "id": entry.id,
            "size": entry.size,
            "stored_at": iso(entry.stored_at),
            "kept_until": iso(entry.stored_at + retention_s),
        }
        for entry in found[:limit]
    ]
    if as_json:
        print_json(rows)
    elif not rows:
        click.echo(f"no artifacts of project {project!r}")
    else:
        ids = shown_ids([entry.id for entry in found[:limit]], [entry.id for entry in entries])
        print_table(
            ("id", "size", "stored at", "kept until"),
            (list((row | {"id": ids[str(row["id"])]}).values()) for row in rows),
        )
        say_more(len(found) - len(rows), "artifacts")
