"""`trackrecord artifacts`: oversized outputs that are stored whole."""

from base64 import b64encode
from functools import partial
from typing import Any, BinaryIO

import click

from trackrecord.artifacts.client import open_artifacts, store_output
from trackrecord.artifacts.contents import lines_of
from trackrecord.artifacts.pages import Page, Range, Unit, page_of
from trackrecord.artifacts.summaries import kind_of_output
from trackrecord.times import iso

from ..access import settings_for
from ..options import Read, json_option, project_option
from ..screen import print_json, print_table

_WHOLE = Range("bytes", 0)


@click.group("artifacts")
def command() -> None:
    """Oversized outputs: stored whole, replaced by a summary, had back byte for byte."""


def _range_of(unit: Unit) -> Read[Range]:
    return Read("a:b", partial(Range.parse, unit))


@command.command("put")
@click.argument("source", metavar="[FILE|-]", type=click.File("rb"), default="-")
@project_option
@json_option
def put_artifact(source: BinaryIO, project: str | None, *, as_json: bool) -> None:
    """Store a file, or standard input, of any size; prints its id.

    With --json also the summary that would stand in its place.
    """
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
@click.option("--lines", type=_range_of("lines"), help="From line a to line b, counted from 1.")
@click.option("--bytes", "in_bytes", type=_range_of("bytes"), help="From byte a to b, from 0.")
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
    """An artifact, or the part of it that is asked for, byte for byte."""
    if lines is not None and in_bytes is not None:
        message = "ask for --lines or for --bytes, not for both"
        raise click.UsageError(message)
    settings, project = settings_for(project)
    store = open_artifacts(settings, project)
    data = store.get(artifact_id)
    page = page_of(artifact_id, data, lines or in_bytes or _WHOLE)
    if len(page.data) > settings.artifacts.threshold_chars:
        # An agent's shell may be who asks: what it gets is not to become a summary again.
        store.note_retrieved(page.data)
    if as_json:
        print_json(_as_document(page, data))
    else:
        click.echo(bytes(page.data), nl=False)


def _as_document(page: Page, data: bytes) -> dict[str, Any]:
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
@json_option
def list_artifacts(project: str | None, *, as_json: bool) -> None:
    """What is stored for a project, newest first."""
    settings, project = settings_for(project)
    entries = open_artifacts(settings, project).entries()
    retention_s = settings.artifacts.retention_s
    rows = [
        {
            "id": each.id,
            "size": each.size,
            "stored_at": iso(each.stored_at),
            "kept_until": iso(each.stored_at + retention_s),
        }
        for each in entries
    ]
    if as_json:
        print_json(rows)
    elif not rows:
        click.echo(f"no artifacts of project {project!r}")
    else:
        print_table(("id", "size", "stored at", "kept until"), (list(row.values()) for row in rows))
