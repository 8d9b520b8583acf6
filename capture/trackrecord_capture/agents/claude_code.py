"""Claude Code: hooks in the user's own settings.

Not a plugin of a marketplace: a plugin is copied into a cache and would go on with an old hook,
its SessionEnd hooks are cut off after 1.5 s, and the client rewrites the settings in its own layout
to register one. Events that only new versions know are left out, for an old version discards a
settings file with one.
"""

import os
from pathlib import Path
from typing import Any, Final

from .draft import Draft, Refused, receipt_of
from .hook_entries import Groups, add_entries, has_entries, opened, restore, settings_in
from .installed import Installed, folders_of, summarises_outputs
from .on_path import is_on_path
from .plan import Change, Plan, change_of
from .runtime import hook_command, hook_prefix

NAME: Final = "claude-code"
LABEL: Final = "Claude Code"
# In seconds. Whatever asks is waited for; whatever notes an end is not.
_ASKING_S: Final = 2
_NOTING_S: Final = 5
_ASKING: Final = ("SessionStart", "UserPromptSubmit")
_NOTING: Final = ("Stop", "SubagentStop")
_AT_THE_END: Final = "SessionEnd"
_AFTER_TOOL: Final = "PostToolUse"
# The tools of which it takes another output: it checks the form of its own ones, and a file that is
# read is asked for word by word.
_REPLACED: Final = "Bash|mcp__.*"


class ClaudeCode:
    """How Claude Code is made to report its runs."""

    name = NAME
    label = LABEL

    def folder(self) -> Path:
        """Return where its settings and sessions are."""
        own = os.environ.get("CLAUDE_CONFIG_DIR")
        return Path(own) if own else Path.home() / ".claude"

    def settings_path(self) -> Path:
        """Return the file of the user's settings."""
        return self.folder() / "settings.json"

    def is_found(self) -> bool:
        """Return whether it is on this machine."""
        return self.folder().is_dir() or is_on_path("claude")

    def install(
        self,
        home: Path,
        installed: Installed | None,
        port: int | None,  # noqa: ARG002 - as for every agent
        *,
        summarises: bool = False,
    ) -> Plan:
        """Plan the installation.

        Raises:
            Refused: the settings are left alone.
        """
        path = self.settings_path()
        draft = opened(path)
        made = add_entries(draft, wanted(home, summarises=summarises), hook_prefix(home))
        earlier = None if installed is None else installed.receipt(path)
        receipt = receipt_of(draft, earlier, made)
        return Plan(
            agent=NAME,
            changes=change_of(draft),
            receipts=(receipt,),
            notes=_notes(draft),
        )

    def uninstall(self, home: Path, installed: Installed | None) -> Plan:
        """Plan the removal.

        Raises:
            Refused: the settings are left alone.
        """
        changes: list[Change] = []
        for path in _files(self.settings_path(), installed):
            draft = opened(path)
            receipt = None if installed is None else installed.receipt(path)
            is_removed = restore(draft, receipt, hook_prefix(home))
            changes += change_of(draft, is_removed=is_removed)
        return Plan(agent=NAME, changes=tuple(changes), folders=folders_of(installed))

    def is_installed(self, home: Path) -> bool:
        """Return whether all hooks are in place."""
        try:
            groups = wanted(home, summarises=summarises_outputs(home, NAME))
            return has_entries(opened(self.settings_path()), groups, hook_prefix(home))
        except Refused:
            return False

    def is_trusted(self, home: Path) -> bool | None:  # noqa: ARG002 - as for every agent
        """Return None: it asks nobody."""
        return None

    def problems(self, home: Path) -> list[str]:  # noqa: ARG002 - as for every agent
        """Return what keeps its hooks from firing, with what to do."""
        try:
            return list(_notes(opened(self.settings_path())))
        except Refused as error:
            return [str(error)]


def wanted(home: Path, *, summarises: bool = False) -> Groups:
    """Return the hooks, by event.

    Args:
        home: trackrecord's home.
        summarises: whether a hook has oversized outputs replaced.
    """
    command = hook_command(home, NAME)
    asking = {event: _group(command, timeout=_ASKING_S) for event in _ASKING}
    noting = {event: _group(command, timeout=_NOTING_S, is_async=True) for event in _NOTING}
    # An asynchronous hook would be killed with the client.
    groups = {**asking, **noting, _AT_THE_END: _group(command, timeout=_ASKING_S)}
    if summarises:
        groups[_AFTER_TOOL] = {"matcher": _REPLACED, **_group(command, timeout=_ASKING_S)}
    return groups


def _group(command: str, *, timeout: int, is_async: bool = False) -> dict[str, Any]:
    hook: dict[str, Any] = {"type": "command", "command": command, "timeout": timeout}
    return {"hooks": [hook | {"async": True} if is_async else hook]}


def _notes(draft: Draft) -> tuple[str, ...]:
    if settings_in(draft).get("disableAllHooks") is True:
        return (f'{draft.path} has "disableAllHooks": no hook runs until it is taken out',)
    return ()


def _files(path: Path, installed: Installed | None) -> list[Path]:
    """Return the files to clean: today's, and those that were changed when it was installed."""
    known = [] if installed is None else [Path(each.path) for each in installed.files]
    return list(dict.fromkeys((*known, path)))
