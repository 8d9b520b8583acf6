"""Install and uninstall: plans are carried out, and what was done is put on record."""

import time
from pathlib import Path

from .installed import Installed, read_installed, write_installed
from .known import Agent
from .plan import Plan, carry_out
from .runtime import remove_runtime, write_runtime


def plan_install(agent: Agent, home: Path, port: int | None) -> Plan:
    """Return what an installation would change.

    Raises:
        Refused: a file is left alone.
    """
    return agent.install(home, read_installed(home).get(agent.name), port)


def plan_uninstall(agent: Agent, home: Path) -> Plan:
    """Return what a removal would change.

    Raises:
        Refused: a file is left alone.
    """
    return agent.uninstall(home, read_installed(home).get(agent.name))


def install(agent: Agent, home: Path, plan: Plan) -> None:
    """Carry out the plan of an installation; the hook stands before anything points to it.

    Raises:
        Refused: a file was changed since the plan was made.
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
    )
    write_installed(home, on_record)


def uninstall(agent: Agent, home: Path, plan: Plan) -> None:
    """Carry out the plan of a removal; with the last agent the hook goes, too.

    Raises:
        Refused: a file was changed since the plan was made.
        OSError: a file cannot be written.
    """
    carry_out(plan)
    on_record = read_installed(home)
    on_record.pop(agent.name, None)
    if not on_record:
        remove_runtime(home)
    write_installed(home, on_record)
