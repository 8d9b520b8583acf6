"""`trackrecord rebuild`: compute every statistic again from its records."""

from __future__ import annotations

import time
from typing import Any

import click

from trackrecord.learning.text.numerals import counted
from trackrecord.process.logs import configure_logs
from trackrecord.resources.access.project_store import project_row
from trackrecord.resources.access.removed import removed_notes
from trackrecord.store.competences.rebuild_credit import rebuild_credit
from trackrecord.store.database.engine import writing
from trackrecord.store.intake.rebuild import rebuild_patterns
from trackrecord.store.outcomes.projects import count_outcomes
from trackrecord_consolidation.rebuild import rebuild_competences

from ...access import open_store, settings_for
from ...arguments.options import json_option, project_option
from ...output.screen import print_json, telling_what_was_done, working

_UNCHANGED = "the statistics of project {!r} stay as they were: nothing was changed"


@click.command("rebuild")
@project_option
@json_option
def command(project: str | None, *, as_json: bool) -> None:
    """Compute every statistic of a project anew.

    They are computed from the recorded outcomes. This is needed after a half-life or a threshold
    of scoring was changed, and harmless otherwise. New outcomes of the project wait in the stream
    meanwhile.
    """
    configure_logs("warning")
    settings, project = settings_for(project)
    started = time.perf_counter()
    now = time.time()
    with (
        telling_what_was_done(lambda: _UNCHANGED.format(project)),
        open_store(settings) as engine,
        writing(engine) as connection,
    ):
        project_id = project_row(connection, project)
        for note in removed_notes(connection, project_id):
            click.echo(note, err=True)
        total = count_outcomes(connection, project_id).outcomes
        with working("scoring outcomes", total=total) as report:
            rebuilt = rebuild_patterns(
                connection, project_id, settings.rules, now=now, report=report
            )
        with working("adding up episodes") as report:
            episodes = rebuild_competences(
                connection, settings.competence, project, project_id, now=now, report=report
            ).episodes_read
        with working("counting which advice was followed"):
            rebuild_credit(connection, project_id)
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
        click.echo(_summary(document))


def _summary(document: dict[str, Any]) -> str:
    return (
        f"{counted(document['outcomes'], 'outcome')}, {counted(document['patterns'], 'pattern')}, "
        f"{document['criteria']} criteria and {counted(document['episodes'], 'episode')} "
        f"computed anew in {document['duration_ms']} ms"
    )
