"""Install and uninstall: carry out plans, and record what was done."""

import time
from pathlib import Path

import msgspec

from .installed import Installed, has_mcp, read_installed, summarises_outputs, write_installed
from .known import Agent
from .plan import Plan, carry_out
from .runtime import remove_runtime, write_runtime


def plan_install(
    agent: Agent,
    home: Path,
    *,
    summarises: bool | None = None,
    mcp: bool | None = None,
) -> Plan:
    """Return the plan of an installation.

    Args:
        agent: the agent.
        home: trackrecord's home.
        summarises: whether oversized outputs are replaced; None for as it is by now.
        mcp: whether the MCP server is registered; None for as it is by now.

    Raises:
        DraftRefused: a file is left alone.
    """
    if summarises is None:
        summarises = summarises_outputs(home, agent.name)
    if mcp is None:
        mcp = has_mcp(home, agent.name)
    installed = read_installed(home).get(agent.name)
    plan = agent.install(home, installed, summarises=summarises, mcp=mcp)
    return msgspec.structs.replace(plan, summarises=summarises, mcp=mcp)


def plan_uninstall(agent: Agent, home: Path) -> Plan:
    """Return the plan of a removal.

    Raises:
        DraftRefused: a file is left alone.
    """
    return agent.uninstall(home, read_installed(home).get(agent.name))


def install(agent: Agent, home: Path, plan: Plan) -> None:
    """Carry out the plan of an installation; the hook's file is written before entries point to it.

    Raises:
        DraftRefused: a file was changed since the plan was made.
        OSError: a file cannot be written.
    """
    write_runtime(home)
    carry_out(plan)
    on_record = read_installed(home)
    known = on_record.get(agent.name)
    files = {each.path: each for each in (*(known.files if known else ()), *plan.receipts)}
    on_record[agent.name] = Installed(
        at=time.time() if known is None else known.at,
        folder=str(agent.folder()),
        files=tuple(files.values()),
        summarises=plan.summarises,
        mcp=plan.mcp,
    )
    write_installed(home, on_record)


def uninstall(agent: Agent, home: Path, plan: Plan) -> None:
    """Carry out the plan of a removal; with the last agent the hook goes, too.

    Raises:
        DraftRefused: a file was changed since the plan was made.
        OSError: a file cannot be written.
    """
    carry_out(plan)
    on_record = read_installed(home)
    on_record.pop(agent.name, None)
    if not on_record:
        remove_runtime(home)
    write_installed(home, on_record)
