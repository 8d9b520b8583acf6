"""Check which agents report, when they last did, and what to do where one does not."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from .door_address import find_door, read_door
from .hook_state import LastError, fired_at, last_error
from .installed import read_installed
from .known import AGENTS
from .plan import Installation

_LONG_AGO_S: Final = 7 * 86_400.0
_CLOSED: Final = (
    "the front door does not answer: run `trackrecord up --detach`; until then hooks leave notes, "
    "which are read then, and nothing is handed to agents"
)
_NO_PORT: Final = (
    "the front door answers hooks, but its port {port} was taken when `up` started: the page and "
    "traces have none; free it or set another TRACKRECORD_HTTP__PORT, and start `up` again"
)


class Checkup(msgspec.Struct, frozen=True, kw_only=True):
    """The state of one agent's reports.

    Attributes:
        agent: its name.
        is_found: whether the agent is on this machine.
        is_installed: whether all that makes it report is in place.
        is_trusted: whether the agent runs our hooks; None where it asks nobody.
        has_mcp: whether our MCP server is registered.
        reminds: whether it is reminded of what it has not checked.
        fired: when each event fired last, seconds since the epoch, the newest first.
        error: what went wrong last.
        advice: what to do; empty if all is well.
    """

    agent: str
    is_found: bool
    is_installed: bool
    is_trusted: bool | None
    has_mcp: bool
    reminds: bool
    fired: Mapping[str, float]
    error: LastError | None
    advice: tuple[str, ...]


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """The state of all agents' reports.

    Attributes:
        door: where the front door was opened last; "" if it was closed, or has no port.
        is_door_open: whether it answers.
        agents: each agent that is found or installed.
        advice: what to do about the front door.
    """

    door: str
    is_door_open: bool
    agents: tuple[Checkup, ...]
    advice: tuple[str, ...]

    @property
    def is_well(self) -> bool:
        """Return whether there is nothing to do."""
        return not self.advice and not any(each.advice for each in self.agents)


def diagnose(home: Path, port: int) -> Diagnosis:
    """Look at what is installed, and ask the front door, which should have a port."""
    address = read_door(home)
    is_open = find_door(home) is not None
    found = tuple(
        _checkup(agent, home)
        for agent in AGENTS.values()
        if agent.is_found() or agent.name in read_installed(home)
    )
    has_port = address is not None and address.port > 0
    return Diagnosis(
        door=f"{address.host}:{address.port}" if address is not None and has_port else "",
        is_door_open=is_open,
        agents=found,
        advice=(() if has_port else (_NO_PORT.format(port=port),)) if is_open else (_CLOSED,),
    )


def _checkup(agent: Installation, home: Path) -> Checkup:
    is_installed = agent.is_installed(home)
    fired = fired_at(home, agent.name)
    advice = list(agent.problems(home))
    installed = read_installed(home).get(agent.name)
    if not is_installed:
        advice.append(f"run `trackrecord install {agent.name}`")
    elif not fired and installed is not None:
        advice.append(f"no hook has fired yet: start a new session of {agent.label}")
    elif fired and time.time() - max(fired.values()) > _LONG_AGO_S:
        advice.append("no hook has fired for a week: if you used it since, install it again")
    return Checkup(
        agent=agent.name,
        is_found=agent.is_found(),
        is_installed=is_installed,
        is_trusted=agent.is_trusted(home) if is_installed else None,
        has_mcp=agent.has_mcp(home),
        reminds=installed is not None and installed.reminds,
        fired=fired,
        error=last_error(home, agent.name),
        advice=tuple(advice),
    )
