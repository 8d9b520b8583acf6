"""`trackrecord publish`: outcomes from a file or a pipe."""

from __future__ import annotations

from typing import BinaryIO

import click

from trackrecord_producers.importers.jsonl import read_outcomes
from trackrecord_producers.publishing.checked_outcomes import given_outcomes

from ...access import open_redis, settings_for
from ...arguments.options import json_option, project_option
from ...output.screen import telling_what_was_done, working
from ...publishing import Publication, find_known, report, so_far, wait_until_learnt


@click.command("publish")
@click.argument("source", metavar="[FILE|-]", type=click.File("rb"), default="-")
@project_option
@json_option
@click.option("--wait", is_flag=True, help="Wait until the outcomes are learnt.")
def command(source: BinaryIO, project: str | None, *, wait: bool, as_json: bool) -> int:
    """Publish outcomes given as JSON or JSON Lines.

    A bad line is named by its number; the good ones go through. An outcome without an outcome_id
    gets one from its content, so publishing the same file twice changes nothing.
    """
    settings, project = settings_for(project)
    most = settings.max_body_bytes
    publication: Publication | None = None
    with telling_what_was_done(lambda: so_far(publication)), open_redis(settings) as client:
        publication = Publication(client, settings, find_known(settings) if wait else None)
        with working("publishing") as report_sent:
            records = read_outcomes(source, max_bytes=most)
            given = given_outcomes(records, project=project, max_bytes=most)
            published = publication.publish(given, report_sent)
        if wait:
            with working("learning", total=len(published.entry_ids)) as report_learnt:
                wait_until_learnt(
                    client, settings.keys, published, lambda done, _: report_learnt(done)
                )
            publication.find_not_learnt()
    return report(published, waited=wait, as_json=as_json)
