"""`patterns tag`: tags by hand."""

from __future__ import annotations

import click

from ..access import TypedId, own_store
from ..arguments.options import Read, json_option, project_option
from ..output.screen import print_json


def read_tag(text: str) -> str:
    """Read a tag as it is kept.

    Raises:
        ValueError: it cannot be one.
    """
    from trackrecord.errors import InvalidTag
    from trackrecord.learning.patterns.tags import checked_tag

    try:
        return checked_tag(text)
    except InvalidTag as error:
        raise ValueError(str(error)) from None


_TAG = Read("tag", read_tag)


@click.command("tag")
@click.argument("pattern_id", metavar="ID")
@click.option("--add", multiple=True, type=_TAG, metavar="TAG", help="Add this tag; repeatable.")
@click.option(
    "--remove", multiple=True, type=_TAG, metavar="TAG", help="Remove this tag; repeatable."
)
@project_option
@json_option
def tag(
    pattern_id: str,
    add: tuple[str, ...],
    remove: tuple[str, ...],
    project: str | None,
    *,
    as_json: bool,
) -> None:
    """Tag a pattern, so that `patterns list --tag` finds it.

    The past keeps the tags that it had, and a rebuild keeps all of them.
    """
    from trackrecord.resources.experience.patterns import tag_pattern

    with own_store(project, TypedId(pattern_id, ("pattern",))) as name:
        tagged = tag_pattern(pattern_id, add=add, remove=remove, project=name)
    if as_json:
        print_json(tagged.to_document())
    else:
        click.echo(f"{tagged.id}: {', '.join(tagged.tags) or 'no tags'}")
