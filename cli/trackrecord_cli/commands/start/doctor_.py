"""`trackrecord doctor`: do the coding agents on this machine report?"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from trackrecord.learning.text.inert import one_line
from trackrecord.learning.text.times import iso
from trackrecord.redis.checkup import check_up_redis
from trackrecord.settings.agent_settings import gone_remark
from trackrecord.settings.daemon_settings import load_daemon_settings
from trackrecord.settings.projects.project_claims import ProjectClaims
from trackrecord_capture.agents.doctor import diagnose
from trackrecord_capture.otlp.traces.trace_status import read_status, traces_file
from trackrecord_capture.sources.register import known_sources
from trackrecord_capture.sources.unread_files import unread_remarks
from trackrecord_worker.up.home_lock import running_cost

from ...arguments.options import json_option
from ...output.screen import print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from trackrecord.redis.checkup import RedisCheckup
    from trackrecord.settings.projects.project_claims import ProjectOrigin
    from trackrecord_capture.agents.doctor import Checkup, Diagnosis
    from trackrecord_capture.otlp.traces.trace_status import TracesStatus

_NO = 1
_LONGEST_LINE = 1000
_YES_OR_NO = {True: "yes", False: "no", None: None}


@click.command("doctor")
@json_option
def command(*, as_json: bool) -> int:
    """Show which coding agents report, when they did last, and who gets into Redis.

    Exit status 1 means that there is something to do, which is said below the table.
    """
    settings = load_daemon_settings()
    home = settings.home
    found, traces = diagnose(home, settings.http.port), read_status(traces_file(home))
    server = check_up_redis(settings)
    is_well = found.is_well and not server.advice
    origins = ProjectClaims(home).origins()
    notes = [*unread_remarks(known_sources().values()), *filter(None, [gone_remark()])]
    if as_json:
        document = _document(found)
        print_json(
            document
            | {
                "well": is_well,
                "advice": [*document["advice"], *server.advice],
                "notes": notes,
                "redis": _redis_document(server),
                "up": _up_document(home),
                "traces": _traces_document(traces),
                "projects": list(map(asdict, origins)),
            }
        )
    else:
        _print(found)
        _print_redis(server)
        _print_cost(home)
        if traces is not None:
            _print_traces(traces)
        _print_projects(origins)
        for note in notes:
            click.echo(one_line(note, _LONGEST_LINE))
    return 0 if is_well else _NO


def _print(found: Diagnosis) -> None:
    rows = [
        (
            each.agent,
            _YES_OR_NO[each.is_installed],
            _YES_OR_NO[each.is_trusted],
            _YES_OR_NO[each.has_mcp],
            _YES_OR_NO[each.reminds],
            _fired(each),
            _error(each),
        )
        for each in found.agents
    ]
    door = "answers" if found.is_door_open else "does not answer"
    head = ("agent", "installed", "trusted", "MCP", "reminds", "fired last", "last error")
    print_table(head, rows)
    click.echo(f"front door{f' at {found.door}' if found.door else ''}: {door}")
    for each in found.agents:
        for line in each.advice:
            click.echo(f"{each.agent}: {line}")
    for line in found.advice:
        click.echo(line)


def _print_redis(server: RedisCheckup) -> None:
    answer = "cannot be used"
    if server.answers:
        entrance = "needs a password" if server.needs_password else "needs no password"
        answer = f"answers user {server.user or 'unknown'}, {entrance}"
    version = f" ({server.version})" if server.version else ""
    click.echo(f"Redis at {server.address}{version}: {answer}")
    for line in (*server.notes, *server.advice):
        click.echo(line)


def _print_cost(home: Path) -> None:
    total = 0
    for path in home.rglob("*"):
        with suppress(OSError):  # it was removed meanwhile
            total += path.lstat().st_size
    cost = running_cost(home) or "does not run here"
    click.echo(f"up: {cost}; {total / 1e6:,.0f} MB in {home}")


def _up_document(home: Path) -> dict[str, Any] | None:
    cost = running_cost(home)
    return None if cost is None else {**cost._asdict(), "since": iso(cost.since)}


def _redis_document(server: RedisCheckup) -> dict[str, Any]:
    return {
        "address": server.address,
        "answers": server.answers,
        "user": server.user,
        "version": None if server.version is None else str(server.version),
        "needs_password": server.needs_password,
        "notes": list(server.notes),
    }


def _print_traces(traces: TracesStatus) -> None:
    last = "none yet" if traces.last_at is None else iso(traces.last_at)
    click.echo(f"traces: {traces.waiting} waiting for more spans; last span: {last}")
    for reason, number in traces.counts.items():
        click.echo(f"not an outcome: {number} {reason}")


def _print_projects(origins: Sequence[ProjectOrigin]) -> None:
    """Show which folders feed each project, and those that did not get their name."""
    if not origins:
        return
    rows = [
        (each.project, each.repository.removeprefix("remote:") or None, folder)
        for each in origins
        for folder in each.folders or (None,)
    ]
    print_table(("project", "repository", "folder"), rows)
    for each in origins:
        if each.is_renamed:
            click.echo(one_line(each.remark, _LONGEST_LINE))


def _traces_document(traces: TracesStatus | None) -> dict[str, Any] | None:
    if traces is None:
        return None
    return {
        "waiting": traces.waiting,
        "last_at": None if traces.last_at is None else iso(traces.last_at),
        "not_outcomes": traces.counts,
    }


def _fired(checkup: Checkup) -> str | None:
    event = next(iter(checkup.fired), None)
    return None if event is None else f"{event}, {iso(checkup.fired[event])}"


def _error(checkup: Checkup) -> str | None:
    return None if checkup.error is None else f"{checkup.error.says} ({iso(checkup.error.at)})"


def _document(found: Diagnosis) -> dict[str, Any]:
    agents = [
        {
            "agent": each.agent,
            "found": each.is_found,
            "installed": each.is_installed,
            "trusted": each.is_trusted,
            "mcp": each.has_mcp,
            "reminds": each.reminds,
            "fired": {event: iso(at) for event, at in each.fired.items()},
            "error": None
            if each.error is None
            else {"at": iso(each.error.at), "says": each.error.says},
            "advice": list(each.advice),
        }
        for each in found.agents
    ]
    return {
        "well": found.is_well,
        "door": {"address": found.door or None, "answers": found.is_door_open},
        "agents": agents,
        "advice": list(found.advice),
    }
