"""`trackrecord run`: a program with its tracing turned on."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path
from typing import NoReturn

import click

from ..access import settings_for
from ..options import project_option

_WAIT_S = 0.5


@click.command(
    "run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@click.argument("program", metavar="COMMAND…", nargs=-1, required=True, type=click.UNPROCESSED)
@project_option
def command(program: tuple[str, ...], project: str | None) -> NoReturn:
    """Run a program with the tracing of its agent framework turned on.

    For example `trackrecord run python agent.py`. The program needs no change. Its exit status and
    its signals are its own, and it also runs when nothing can be recorded.
    """
    from trackrecord_capture.agents.door_address import DoorAddress, read_door
    from trackrecord_capture.zero_code import environment_of_run

    settings, _ = settings_for(project)
    environment = dict(os.environ)
    http = settings.http
    # Where it is open in this home, if it is; the port may have been given by the system.
    door = read_door(settings.home) or DoorAddress(http.host, http.port, http.token or "")
    if not _listens(door.host, door.port):
        click.echo(
            "trackrecord: nothing is recorded: no daemon listens on "
            f"{door.host}:{door.port}; start one with `trackrecord up`",
            err=True,
        )
    else:
        host = f"[{door.host}]" if ":" in door.host else door.host
        environment = environment_of_run(
            environment,
            endpoint=f"http://{host}:{door.port}",
            token=door.token,
            project=project or "",
            folder=str(Path.cwd()),
            pid=os.getpid(),
        )
    path = shutil.which(program[0])
    if path is None:
        message = f"{program[0]}: there is no such program; write its path or install it"
        raise click.UsageError(message)
    os.execve(path, list(program), environment)  # noqa: S606 - it is the person's own program


def _listens(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=_WAIT_S):
            return True
    except OSError:
        return False
