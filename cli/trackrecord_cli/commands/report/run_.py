"""`trackrecord run`: a program with its tracing turned on."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from ...access import settings_for
from ...arguments.options import project_option

if TYPE_CHECKING:
    from trackrecord.settings.http_settings import HttpSettings
    from trackrecord_capture.agents.door_address import DoorAddress

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
    from trackrecord_capture.agents.door_address import find_door
    from trackrecord_capture.zero_code import environment_of_run

    settings, _ = settings_for(project)
    environment = dict(os.environ)
    door = find_door(settings.home) or _configured(settings.http)
    if door is None:
        click.echo(
            f"trackrecord: nothing is recorded: no daemon answers in {settings.home}; "
            "start one with `trackrecord up`",
            err=True,
        )
    else:
        environment = environment_of_run(
            environment,
            endpoint=door.url,
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


def _configured(http: HttpSettings) -> DoorAddress | None:
    """Return where a front door is that belongs to no home here, as that of a container does.

    It is known by its token, which somebody has set.
    """
    from trackrecord_capture.agents.door_address import DoorAddress
    from trackrecord_door.access.stored_tokens import reporting_token
    from trackrecord_door.protocol.listening import reached

    if http.token is None:
        return None
    address = DoorAddress(reached(http.host), http.port, reporting_token(http.token))
    try:
        with socket.create_connection((address.host, address.port), timeout=_WAIT_S):
            return address
    except OSError:
        return None
