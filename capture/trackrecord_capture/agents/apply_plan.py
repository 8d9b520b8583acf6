"""Install and uninstall: carry out plans, and record what was done."""

import time
from pathlib import Path

import msgspec

from .installed import Chosen, Installed, installed_for, read_installed, write_installed
from .plan import Installation, Plan, carry_out
from .runtime import remove_runtime, write_runtime


def plan_install(agent: Installation, home: Path, **asked: bool | None) -> Plan:
    """Return the plan of an installation.

    Args:
        agent: the agent.
        home: trackrecord's home.
        asked: the fields of `Chosen`; None for as it is by now.

    Raises:
        DraftRefused: a file is left alone.
    """
    installed = installed_for(home, agent.name)
    given = {name: value for name, value in asked.items() if value is not None}
    known = {name: getattr(installed, name) for name in Chosen.__struct_fields__}
    return agent.install(home, installed, Chosen(**{**known, **given}))


def plan_uninstall(agent: Installation, home: Path) -> Plan:
    """Return the plan of a removal.

    Raises:
        DraftRefused: a file is left alone.
    """
    return agent.uninstall(home, installed_for(home, agent.name))


def install(agent: Installation, home: Path, plan: Plan) -> None:
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
        **msgspec.structs.asdict(plan.chosen),
    )
    write_installed(home, on_record)


def uninstall(agent: Installation, home: Path, plan: Plan) -> None:
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
