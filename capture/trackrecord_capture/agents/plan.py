"""The changes of an installation as a value: shown for a dry run, or carried out."""

import difflib
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from .draft import Draft, DraftRefused, Receipt, opened, read_text
from .installed import NOTHING_CHOSEN, Chosen, Installed, installed_for
from .replacing import replace_file


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One file that is written or removed.

    Attributes:
        path: the file.
        before: its text now; None if there is none.
        after: its text afterwards; None if it is removed.
    """

    path: Path
    before: str | None
    after: str | None

    def lines(self) -> Iterator[str]:
        """Show the lines that are added and removed, without their context."""
        before, after = (self.before or "").splitlines(), (self.after or "").splitlines()
        found = difflib.unified_diff(before, after, n=0, lineterm="")
        yield from (line for line in found if not line.startswith(("---", "+++")))


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The changes of an installation or a removal for one agent.

    Attributes:
        agent: the agent's name.
        changes: the files that change; none if all is as it should be.
        receipts: what stands on record about the files afterwards.
        folders: the folders to remove if they are empty, the innermost first.
        notes: what a person has to know or to do, and which files were left alone and why.
        chosen: the parts that are installed afterwards.
    """

    agent: str
    changes: tuple[Change, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    folders: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    chosen: Chosen = NOTHING_CHOSEN


def not_reminded(label: str) -> str:
    """Return the note that an agent cannot be reminded of what it has not checked."""
    return f"{label} cannot be had to go on at the end of a turn: it is not reminded"


def change_of(draft: Draft, *, is_removed: bool = False) -> tuple[Change, ...]:
    """Return the change of a draft, if it is one."""
    after = None if is_removed else draft.text
    if after == draft.before:
        return ()
    return (Change(path=draft.path, before=draft.before, after=after),)


def carry_out(plan: Plan) -> None:
    """Write and remove the files of a plan, each as a whole.

    Raises:
        DraftRefused: a file was changed since the plan was made; it is left alone.
        OSError: a file cannot be written; it stands as it was.
    """
    for change in plan.changes:
        if read_text(change.path) != change.before:
            message = f"{change.path} was changed just now: left alone, please try again"
            raise DraftRefused(message)
        if change.after is None:
            Path(os.path.realpath(change.path)).unlink(missing_ok=True)
        else:
            change.path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(change.path, change.after.encode())
    for folder in plan.folders:
        with suppress(OSError):
            Path(folder).rmdir()


class Installation:
    """An agent on this machine, and how it is made to report by itself.

    Attributes:
        name: the agent's name, as in `trackrecord install NAME`.
        label: its name for people.
    """

    name: str
    label: str

    def folder(self) -> Path:
        """Return where its sessions are."""
        raise NotImplementedError

    def is_found(self) -> bool:
        """Return whether it is on this machine."""
        raise NotImplementedError

    def install(self, home: Path, installed: Installed, chosen: Chosen) -> Plan:
        """Plan the installation.

        Args:
            home: trackrecord's home.
            installed: what is installed by now.
            chosen: the parts that are wanted, where the agent can have them; of those that are
                installed and not wanted, our MCP server goes.

        Raises:
            DraftRefused: a file is left alone.
        """
        raise NotImplementedError

    def has_mcp(self, home: Path) -> bool:
        """Return whether our MCP server is registered."""
        raise NotImplementedError

    def own_files(self, home: Path) -> Iterable[Path]:
        """Return the files that an installation changes today."""
        raise NotImplementedError

    def restored(self, draft: Draft, home: Path, receipt: Receipt | None) -> bool:
        """Undo an installation in a file; return whether it is ours and can be deleted."""
        raise NotImplementedError

    def holds(self, home: Path, chosen: Chosen) -> bool:
        """Return whether all that is chosen is in place; may raise `DraftRefused`."""
        raise NotImplementedError

    def uninstall(self, home: Path, installed: Installed) -> Plan:
        """Plan the removal.

        Raises:
            DraftRefused: a file is left alone.
        """
        changes: list[Change] = []
        known = [Path(each.path) for each in installed.files]
        for path in dict.fromkeys((*known, *self.own_files(home))):
            draft = opened(path)
            is_removed = self.restored(draft, home, installed.receipt(path))
            changes += change_of(draft, is_removed=is_removed)
        return Plan(agent=self.name, changes=tuple(changes), folders=installed.folders)

    def is_installed(self, home: Path) -> bool:
        """Return whether all that is ours is in place."""
        try:
            return self.holds(home, installed_for(home, self.name))
        except DraftRefused:
            return False

    def is_trusted(self, home: Path) -> bool | None:  # noqa: ARG002 - of agents that ask
        """Return whether the agent runs our hooks; None if it does not ask for trust."""
        return None

    def problems(self, home: Path) -> list[str]:  # noqa: ARG002 - of agents that have any
        """Return the problems that keep the agent from reporting, with their remedies."""
        return []
