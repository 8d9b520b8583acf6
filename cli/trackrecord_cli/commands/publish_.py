"""`trackrecord publish`: outcomes from a file or a pipe."""

from typing import BinaryIO

import click

from ..access import open_redis, settings_for
from ..options import json_option, project_option
from ..outcome_input import read_outcomes
from ..publishing import Published, publish_all, wait_until_learnt
from ..screen import print_json, say_bad_lines


@click.command("publish")
@click.argument("source", metavar="[FILE|-]", type=click.File("rb"), default="-")
@project_option
@json_option
@click.option("--wait", is_flag=True, help="Return when they are learnt.")
def command(source: BinaryIO, project: str | None, *, wait: bool, as_json: bool) -> int:
    """Publish outcomes given as JSON or JSON Lines.

    A bad line is named by its number; the good ones go through.
    """
    settings, project = settings_for(project)
    with open_redis(settings) as client:
        given = read_outcomes(source, project=project, max_bytes=settings.max_body_bytes)
        published = publish_all(client, settings.keys, given)
        if wait:
            wait_until_learnt(client, settings.keys, published)
    return report(published, waited=wait, as_json=as_json)


def report(published: Published, *, waited: bool, as_json: bool) -> int:
    """Say what became of the outcomes; answers the exit status."""
    learnt = len(published.outcome_ids) - len(published.refused)
    if as_json:
        print_json(
            {
                "published": len(published.outcome_ids),
                "learnt": learnt if waited else None,
                "refused": published.refused,
                "bad": [{"place": each.place, "reason": each.reason} for each in published.bad],
                "outcome_ids": published.outcome_ids,
            }
        )
    elif waited:
        click.echo(f"{learnt} of {len(published.outcome_ids)} outcomes learnt")
    else:
        click.echo(f"{len(published.outcome_ids)} outcomes published")
    for outcome_id, reason in published.refused.items():
        click.echo(f"trackrecord: {outcome_id} was set aside: {reason}", err=True)
    return say_bad_lines(published.bad) or (2 if published.refused else 0)
