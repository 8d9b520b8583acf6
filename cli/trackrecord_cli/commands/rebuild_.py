"""`trackrecord rebuild`: compute every statistic anew."""

import time

import click

from trackrecord.store.competences.rebuild_credit import credit_again
from trackrecord.store.database.engine import writing
from trackrecord.store.intake.rebuild import rebuild_patterns
from trackrecord_consolidation.rebuild import refold

from ..access import open_store, project_on_record, settings_for
from ..options import json_option, project_option
from ..screen import print_json


@click.command("rebuild")
@project_option
@json_option
def command(project: str | None, *, as_json: bool) -> None:
    """Compute every statistic of a project anew from the recorded outcomes.

    Needed after a half-life or a threshold of scoring was changed; harmless otherwise. New
    outcomes of the project wait in the stream meanwhile.
    """
    settings, project = settings_for(project)
    started = time.perf_counter()
    now = time.time()
    with open_store(settings) as engine, writing(engine) as connection:
        project_id = project_on_record(connection, project)
        rebuilt = rebuild_patterns(
            connection,
            project_id,
            settings.rules,
            now=now,
        )
        episodes = refold(
            connection, settings.competence, project, project_id, now=now
        ).episodes_read
        credit_again(connection, project_id)
    document = {
        "project": project,
        "outcomes": rebuilt.outcomes,
        "patterns": rebuilt.patterns,
        "criteria": rebuilt.criteria,
        "episodes": episodes,
        "duration_ms": round((time.perf_counter() - started) * 1000),
    }
    if as_json:
        print_json(document)
    else:
        click.echo(
            f"{rebuilt.outcomes} outcomes, {rebuilt.patterns} patterns, "
            f"{rebuilt.criteria} criteria and {episodes} episodes "
            f"computed anew in {document['duration_ms']} ms"
        )
