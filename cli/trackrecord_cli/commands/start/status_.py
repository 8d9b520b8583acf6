"""`trackrecord status`: is the loop alive?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from trackrecord.learning.text.times import iso
from trackrecord.resources.operation.status import read_status
from trackrecord_producers.spool.files import spool_size
from trackrecord_worker.up.home_lock import running_cost

from ...access import open_redis, read_store
from ...arguments.options import json_option, project_option
from ...output.screen import on_terminal, print_json, print_lines, print_table

if TYPE_CHECKING:
    from trackrecord.resources.operation.status import StatusAnswer


class StatusLine(NamedTuple):
    """One line: a label, and what is so."""

    name: str
    value: str


def places(status: StatusAnswer, cost: str) -> list[StatusLine]:
    """Return where everything is kept, and what the running `up` costs."""
    return [
        StatusLine("version", status.version),
        StatusLine("home", status.home or ""),
        StatusLine("Redis", status.redis or ""),
        StatusLine("database", status.database or ""),
        StatusLine("up", cost),
    ]


def flow(status: StatusAnswer) -> list[StatusLine]:
    """Return how outcomes flow."""
    age = "none" if status.oldest_waiting_s is None else _age(status.oldest_waiting_s)
    return [
        StatusLine("workers", str(status.workers)),
        StatusLine("waiting in the stream", f"{status.waiting:,}"),
        StatusLine("being learnt", f"{status.pending:,}"),
        StatusLine("oldest of them", age),
        StatusLine("in the spool", f"{status.spooled:,}"),
        StatusLine("dead letters", f"{status.dead_letters:,}"),
    ]


def learnt(status: StatusAnswer) -> list[StatusLine]:
    """Return what has been learnt."""
    judged = status.outcomes - status.without_verdict
    # A rate of a few says nothing of the others.
    share = f" ({status.successes / judged:.0%})" if 2 * judged >= max(1, status.outcomes) else ""
    cached = "never computed" if status.cache_age_s is None else f"{_age(status.cache_age_s)} old"
    return [
        StatusLine("outcomes", f"{status.outcomes:,}"),
        StatusLine("successful", f"{status.successes:,} of {judged:,} with a verdict{share}"),
        StatusLine("without a verdict", f"{status.without_verdict:,}"),
        StatusLine("patterns", f"{status.patterns:,}"),
        StatusLine("anti-patterns", f"{status.anti_patterns:,}"),
        StatusLine("procedures", f"{status.signatures:,}"),
        StatusLine("competence records", f"{status.competences:,}"),
        StatusLine("memories", f"{status.memories:,}"),
        StatusLine("episodes to consolidate", f"{status.waiting_episodes:,}"),
        StatusLine("projects to rebuild", ", ".join(status.rebuild_due) or "none"),
        StatusLine("last learnt", iso(status.last_learnt) or "never"),
        StatusLine("last consolidation", iso(status.last_consolidation) or "never"),
        StatusLine("rankings", cached),
        _disk(status.bytes or {"total": 0}),
        _defects(status.standing_defects),
        StatusLine("effect of advice", status.effect),
    ]


def _defects(standing: Sequence[str]) -> StatusLine:
    """Return the line of the longest standing defect, and of the number of the others."""
    if not standing:
        return StatusLine("standing defects", "none")
    others = f"; {len(standing) - 1} more (`trackrecord commands list`)" if standing[1:] else ""
    return StatusLine("standing defects", f"{standing[0]}{others}")


_MOST_KINDS = 5


def _disk(sizes: Mapping[str, int]) -> StatusLine:
    """Return the line of the database's bytes, with the largest kinds of rows."""
    kinds = [f"{kind} {_mb(size)}" for kind, size in sizes.items() if kind != "total"]
    of_these = f": {', '.join(kinds[:_MOST_KINDS])}" if kinds else ""
    return StatusLine("disk", f"{_mb(sizes['total'])} MB{of_these}")


def _mb(size: int) -> str:
    return f"{size / 1e6:,.1f}"


def _age(seconds: float) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes:.0f} min" if minutes >= 2 else f"{minutes * 60 + rest:.1f} s"


_NO = 1


@click.command("status")
@project_option
@json_option
def command(project: str | None, *, as_json: bool) -> int:
    """Show whether outcomes are being learnt, and how much is known.

    With --project the counts are those of the project, otherwise those of all projects. The last
    line says in one sentence how things are, and what to do if something is wrong. Exit status 1
    means that nothing can be learnt because no worker is running, 3 that a server cannot be
    reached.
    """
    status = _read(project)
    if as_json:
        print_json(status.to_document())
    else:
        _print(status)
    return 0 if status.is_learning else _NO


def _read(project: str | None) -> StatusAnswer:
    with read_store(None) as (connection, settings, _), open_redis(settings) as client:
        spooled = spool_size(settings).outcomes
        return read_status(client, connection, settings, project=project, spooled=spooled)


def _cost(status: StatusAnswer) -> str:
    return str((status.home and running_cost(Path(status.home))) or "does not run here")


def _print(status: StatusAnswer) -> None:

    cost = _cost(status)
    if on_terminal():
        print_lines([*places(status, cost), *flow(status), *learnt(status)])
    else:
        fields = status.to_document() | {
            "rebuild_due": ", ".join(status.rebuild_due) or "no",
            "bytes": ", ".join(f"{kind} {size}" for kind, size in (status.bytes or {}).items()),
        }
        del fields["verdict"]
        fields["up"] = cost
        print_table(("field", "value"), fields.items())
    click.echo(status.verdict)
