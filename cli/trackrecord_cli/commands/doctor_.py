"""`trackrecord doctor`: do the coding agents on this machine report?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..options import json_option
from ..screen import print_json, print_table

if TYPE_CHECKING:
    from trackrecord_capture.agents.doctor import Checkup, Diagnosis

_NO = 1
_YES_OR_NO = {True: "yes", False: "no", None: None}


@click.command("doctor")
@json_option
def command(*, as_json: bool) -> int:
    """Show which coding agents report, and when they did last.

    Exit status 1 means that there is something to do, which is said below the table.
    """
    from trackrecord.daemon_settings import load_daemon_settings
    from trackrecord_capture.agents.doctor import diagnose

    found = diagnose(load_daemon_settings().home)
    if as_json:
        print_json(_document(found))
    else:
        _print(found)
    return 0 if found.is_well else _NO


def _print(found: Diagnosis) -> None:
    rows = [
        (
            each.agent,
            _YES_OR_NO[each.is_installed],
            _YES_OR_NO[each.is_trusted],
            _fired(each),
            _error(each),
        )
        for each in found.agents
    ]
    door = "answers" if found.is_door_open else "does not answer"
    print_table(("agent", "installed", "trusted", "fired last", "last error"), rows)
    click.echo(f"front door{f' at {found.door}' if found.door else ''}: {door}")
    for each in found.agents:
        for line in each.advice:
            click.echo(f"{each.agent}: {line}")
    for line in found.advice:
        click.echo(line)


def _fired(checkup: Checkup) -> str | None:
    from trackrecord.times import iso

    event = next(iter(checkup.fired), None)
    return None if event is None else f"{event}, {iso(checkup.fired[event])}"


def _error(checkup: Checkup) -> str | None:
    from trackrecord.times import iso

    return None if checkup.error is None else f"{checkup.error.says} ({iso(checkup.error.at)})"


def _document(found: Diagnosis) -> dict[str, Any]:
    from trackrecord.times import iso

    agents = [
        {
            "agent": each.agent,
            "found": each.is_found,
            "installed": each.is_installed,
            "trusted": each.is_trusted,
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
