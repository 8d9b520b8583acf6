"""`trackrecord status`: is the loop alive?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

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


def _lines(status: StatusAnswer, cost: str) -> dict[str, str]:
    """Return what is so, by label: where everything is kept, how outcomes flow, what is learnt."""
    age = "none" if status.oldest_waiting_s is None else _age(status.oldest_waiting_s)
    judged = status.outcomes - status.without_verdict
    # A rate of a few says nothing of the others.
    share = f" ({status.successes / judged:.0%})" if 2 * judged >= max(1, status.outcomes) else ""
    cached = "never computed" if status.cache_age_s is None else f"{_age(status.cache_age_s)} old"
    return {
        "version": status.version,
        "home": status.home or "",
        "Redis": status.redis or "",
        "database": status.database or "",
        "up": cost,
        "workers": str(status.workers),
        "waiting in the stream": f"{status.waiting:,}",
        "being learnt": f"{status.pending:,}",
        "oldest of them": age,
        "in the spool": f"{status.spooled:,}",
        "dead letters": f"{status.dead_letters:,}",
        "outcomes": f"{status.outcomes:,}",
        "successful": f"{status.successes:,} of {judged:,} with a verdict{share}",
        "without a verdict": f"{status.without_verdict:,}",
        "patterns": f"{status.patterns:,}",
        "anti-patterns": f"{status.anti_patterns:,}",
        "procedures": f"{status.signatures:,}",
        "competence records": f"{status.competences:,}",
        "memories": f"{status.memories:,}",
        "episodes to consolidate": f"{status.waiting_episodes:,}",
        "projects to rebuild": ", ".join(status.rebuild_due) or "none",
        "last learnt": iso(status.last_learnt) or "never",
        "last consolidation": iso(status.last_consolidation) or "never",
        "rankings": cached,
        "disk": _disk(status.bytes or {"total": 0}),
        "standing defects": _defects(status.standing_defects),
        "effect of advice": status.effect,
    }


def _defects(standing: Sequence[str]) -> str:
    """Return the longest standing defect, and the number of the others."""
    others = f"; {len(standing) - 1} more (`trackrecord commands list`)" if standing[1:] else ""
    return f"{standing[0]}{others}" if standing else "none"


_MOST_KINDS = 5


def _disk(sizes: Mapping[str, int]) -> str:
    """Return the database's bytes, with the largest kinds of rows."""
    kinds = [f"{kind} {_mb(size)}" for kind, size in sizes.items() if kind != "total"]
    of_these = f": {', '.join(kinds[:_MOST_KINDS])}" if kinds else ""
    return f"{_mb(sizes['total'])} MB{of_these}"


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


def _print(status: StatusAnswer) -> None:
    cost = str((status.home and running_cost(Path(status.home))) or "does not run here")
    if on_terminal():
        print_lines(_lines(status, cost).items())
    else:
        fields = status.to_document() | {
            "rebuild_due": ", ".join(status.rebuild_due) or "no",
            "bytes": ", ".join(f"{kind} {size}" for kind, size in (status.bytes or {}).items()),
        }
        del fields["verdict"]
        fields["up"] = cost
        print_table(("field", "value"), fields.items())
    click.echo(status.verdict)
