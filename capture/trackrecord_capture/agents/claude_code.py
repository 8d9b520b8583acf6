"""Claude Code: hooks in the user's own settings, and a server in the file that holds its servers.

Not a plugin of a marketplace: a plugin is copied into a cache and would go on with an old hook,
its SessionEnd hooks are cut off after 1.5 s, and the client rewrites the settings in its own layout
to register one. Events that only new versions know are left out, for an old version discards a
settings file with one.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from .draft import Draft, DraftRefused, read_text, receipt_of
from .hook_entries import Groups, add_entries, has_entries, opened, restore, settings_in
from .installed import Installed, folders_of, has_mcp, summarises_outputs
from .mcp_entry import add_server, has_server, remove_server, restore_servers
from .on_path import is_on_path
from .plan import Change, Plan, change_of
from .runtime import hook_command, hook_prefix, mcp_path

NAME: Final = "claude-code"
LABEL: Final = "Claude Code"
# In seconds. Whatever asks is waited for; whatever notes an end is not.
_ASKING_S: Final = 2
_NOTING_S: Final = 5
_ASKING: Final = ("SessionStart", "UserPromptSubmit", "PostToolUseFailure")
_NOTING: Final = ("Stop", "SubagentStop")
_AT_THE_END: Final = "SessionEnd"
_AFTER_TOOL: Final = "PostToolUse"
# The tools of which it takes another output: it checks the form of its own ones, and a file that is
# read is asked for word by word.
_REPLACED: Final = "Bash|mcp__.*"


class ClaudeCodeAgent:
    """Installs the reporting of Claude Code."""

    name = NAME
    label = LABEL

    def folder(self) -> Path:
        """Return where its settings and sessions are."""
        own = os.environ.get("CLAUDE_CONFIG_DIR")
        return Path(own) if own else Path.home() / ".claude"

    def settings_path(self) -> Path:
        """Return the file of the user's settings."""
        return self.folder() / "settings.json"

    def servers_path(self) -> Path:
        """Return the file in which it keeps the MCP servers of the user, and much else."""
        own = os.environ.get("CLAUDE_CONFIG_DIR")
        return (Path(own) if own else Path.home()) / ".claude.json"

    def _holds_server(self, home: Path) -> bool:
        """Return whether the file may hold our server; other files are left alone."""
        try:
            return str(mcp_path(home)) in (read_text(self.servers_path()) or "")
        except DraftRefused:
            return False

    def is_found(self) -> bool:
        """Return whether it is on this machine."""
        return self.folder().is_dir() or is_on_path("claude")

    def install(
        self,
        home: Path,
        installed: Installed | None,
        *,
        summarises: bool = False,
        mcp: bool = False,
    ) -> Plan:
        """Plan the installation.

        Raises:
            DraftRefused: the settings are left alone.
        """
        path = self.settings_path()
        draft = opened(path)
        made = add_entries(draft, wanted(home, summarises=summarises), hook_prefix(home))
        drafts = [(draft, made)]
        if mcp or self._holds_server(home):
            servers = opened(self.servers_path())
            drafts.append((servers, _with_server(servers, home, installed, mcp=mcp)))
        return Plan(
            agent=NAME,
            changes=tuple(change for each, _ in drafts for change in change_of(each)),
            receipts=tuple(
                receipt_of(each, None if installed is None else installed.receipt(each.path), names)
                for each, names in drafts
            ),
            notes=_notes(draft),
        )

    def uninstall(self, home: Path, installed: Installed | None) -> Plan:
        """Plan the removal.

        Raises:
            DraftRefused: the settings are left alone.
        """
        changes: list[Change] = []
        ours = [self.settings_path()]
        if self._holds_server(home):
            ours.append(self.servers_path())
        for path in _files(ours, installed):
            draft = opened(path)
            receipt = None if installed is None else installed.receipt(path)
            if path.name == self.servers_path().name:
                is_removed = restore_servers(draft, server_of(home), receipt)
            else:
                is_removed = restore(draft, receipt, hook_prefix(home))
            changes += change_of(draft, is_removed=is_removed)
        return Plan(agent=NAME, changes=tuple(changes), folders=folders_of(installed))

    def is_installed(self, home: Path) -> bool:
        """Return whether all hooks are in place."""
        try:
            groups = wanted(home, summarises=summarises_outputs(home, NAME))
            has_hooks = has_entries(opened(self.settings_path()), groups, hook_prefix(home))
            return has_hooks and (self.has_mcp(home) or not has_mcp(home, NAME))
        except DraftRefused:
            return False

    def has_mcp(self, home: Path) -> bool:
        """Return whether our MCP server is registered."""
        try:
            return has_server(opened(self.servers_path()), server_of(home))
        except DraftRefused:
            return False

    def is_trusted(self, home: Path) -> bool | None:  # noqa: ARG002 - as for every agent
        """Return None: Claude Code does not ask for trust."""
        return None

    def problems(self, home: Path) -> list[str]:  # noqa: ARG002 - as for every agent
        """Return the problems that keep its hooks from firing, with their remedies."""
        try:
            return list(_notes(opened(self.settings_path())))
        except DraftRefused as error:
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


def server_of(home: Path) -> dict[str, Any]:
    """Return our MCP server, as the client names servers."""
    return {"type": "stdio", "command": str(mcp_path(home)), "args": []}


def _with_server(draft: Draft, home: Path, installed: Installed | None, *, mcp: bool) -> list[str]:
    """Add our server to the file of servers, or remove it; return the names of created entries."""
    if mcp:
        return add_server(draft, server_of(home))
    receipt = None if installed is None else installed.receipt(draft.path)
    remove_server(draft, server_of(home), () if receipt is None else receipt.made)
    return []


def _group(command: str, *, timeout: int, is_async: bool = False) -> dict[str, Any]:
    hook: dict[str, Any] = {"type": "command", "command": command, "timeout": timeout}
    return {"hooks": [hook | {"async": True} if is_async else hook]}


def _notes(draft: Draft) -> tuple[str, ...]:
    if settings_in(draft).get("disableAllHooks") is True:
        return (f'{draft.path} has "disableAllHooks": no hook runs until it is taken out',)
    return ()


def _files(paths: Iterable[Path], installed: Installed | None) -> list[Path]:
    """Return the files to clean: today's, and those that were changed when it was installed."""
    known = [] if installed is None else [Path(each.path) for each in installed.files]
    return list(dict.fromkeys((*known, *paths)))
