"""The coding agents that commands take by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from trackrecord_capture.agents.installed import read_installed
from trackrecord_capture.sources.register import agent_names, agent_of

from .options import OneOf

if TYPE_CHECKING:
    from trackrecord_capture.agents.plan import Installation


agent_argument = click.argument(
    "name", metavar="[NAME]", type=OneOf([*agent_names(), "all"]), required=False
)


def chosen(name: str | None, *, home: Path | None = None) -> list[Installation]:
    """Return the agent of this name, or all that are on this machine.

    Args:
        name: the agent's name; "all" or None for those that are found.
        home: with it, agents that stand on record there as installed are chosen, too.
    """
    from trackrecord_capture.agents.known import AGENTS

    on_record = read_installed(home) if home else {}
    if name not in (None, "all"):
        agent = AGENTS.get(str(name))
        if agent is None:
            label = agent_of(str(name)).label
            click.echo(
                f"trackrecord: {label} has no hook that tells when a run ends: "
                f"`trackrecord import {name}` reads its sessions",
                err=True,
            )
            return []
        if home is None and not agent.is_found():
            click.echo(
                f"trackrecord: {agent.label} was not found: neither its folder "
                f"({agent.folder()}) nor its program is there",
                err=True,
            )
            return []
        return [agent]
    found = [each for each in AGENTS.values() if each.is_found() or each.name in on_record]
    if not found:
        click.echo(f"trackrecord: none of {', '.join(AGENTS)} was found here", err=True)
    return found
