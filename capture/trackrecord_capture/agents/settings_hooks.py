"""Hooks in an agent's settings, of the shape that Claude Code has given them and others took over.

`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "…", "timeout": 2}]}]}}`, in a file
of JSON that may hold much else, and our MCP server in that file or in another one.
"""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from .draft import Draft, DraftRefused, Receipt, digest_of, opened, read_text, receipt_of
from .hook_entries import Groups, add_entries, has_entries, restore, settings_in
from .installed import NOTHING_CHOSEN, Chosen, Installed
from .mcp_entry import add_server, has_server, remove_server, restore_servers
from .plan import Installation, Plan, change_of, not_reminded
from .runtime import REMIND, hook_command, hook_prefix, mcp_path

# In seconds. Whatever asks is waited for; whatever notes an end is not.
_ASKING_S: Final = 2
_NOTING_S: Final = 5
_ASKING: Final = ("SessionStart", "UserPromptSubmit")
_STOP: Final = "Stop"
_NOTING: Final = (_STOP, "SubagentStop")
_AT_THE_END: Final = "SessionEnd"
_AFTER_TOOL: Final = "PostToolUse"


@dataclass(frozen=True, kw_only=True)
class SettingsHooks(Installation):
    """The installation of hooks in an agent's settings, by which it reports its runs.

    Attributes:
        name: the agent's name.
        label: its name for people.
        program: its program, as a shell finds it.
        folder_of: returns where its settings and sessions are.
        servers_of: returns the file that holds its MCP servers; None if the settings do.
        server_type: what an MCP server says of itself there; "" if nothing.
        unit: how many of a timeout's units are a second.
        in_background: whether a hook can be left running while the agent goes on.
        asking: the events that ask the front door.
        noting: the events that end a turn or a sub-agent.
        events: its own names of events, by those of Claude Code, where they differ.
        replaced: the tools whose output a hook may replace, as a pattern; "" if none.
        goes_on: whether a hook at the end of a turn can have it go on.
    """

    name: str
    label: str
    program: str
    folder_of: Callable[[], Path]
    servers_of: Callable[[], Path] | None = None
    server_type: str = ""
    unit: int = 1
    in_background: bool = False
    asking: tuple[str, ...] = _ASKING
    noting: tuple[str, ...] = _NOTING
    events: Mapping[str, str] = field(default_factory=dict)
    replaced: str = ""
    goes_on: bool = False

    def folder(self) -> Path:
        """Return where its settings and sessions are."""
        return self.folder_of()

    def settings_path(self) -> Path:
        """Return the file of the user's settings."""
        return self.folder() / "settings.json"

    def servers_path(self) -> Path:
        """Return the file in which it keeps the MCP servers of the user."""
        return self.settings_path() if self.servers_of is None else self.servers_of()

    def server(self, home: Path) -> dict[str, Any]:
        """Return our MCP server, as the agent names servers."""
        kind = {"type": self.server_type} if self.server_type else {}
        return {**kind, "command": str(mcp_path(home)), "args": []}

    def wanted(self, home: Path, chosen: Chosen = NOTHING_CHOSEN) -> Groups:
        """Return the hooks, by event.

        Args:
            home: trackrecord's home.
            chosen: the parts that are wanted.
        """
        asking = {event: self._group(home, _ASKING_S) for event in self.asking}
        noting = {
            event: self._group(home, _NOTING_S, in_background=self.in_background)
            for event in self.noting
        }
        # In the background it would be killed with the client.
        groups = {**asking, **noting, _AT_THE_END: self._group(home, _ASKING_S)}
        if chosen.reminds:
            groups[_STOP] = self._group(home, _ASKING_S, REMIND)
        if chosen.summarises and self.replaced:
            groups[_AFTER_TOOL] = {"matcher": self.replaced, **self._group(home, _ASKING_S)}
        return {self.events.get(event, event): group for event, group in groups.items()}

    def _group(
        self, home: Path, timeout_s: int, *words: str, in_background: bool = False
    ) -> dict[str, Any]:
        command = hook_command(home, self.name, *words)
        hook: dict[str, Any] = {
            "type": "command",
            "command": command,
            "timeout": timeout_s * self.unit,
        }
        return {"hooks": [hook | {"async": True} if in_background else hook]}

    def _holds_server(self, home: Path) -> bool:
        """Return whether the file may hold our server; other files are left alone."""
        try:
            return str(mcp_path(home)) in (read_text(self.servers_path()) or "")
        except DraftRefused:
            return False

    def is_found(self) -> bool:
        """Return whether it is on this machine."""
        return self.folder().is_dir() or shutil.which(self.program) is not None

    def install(self, home: Path, installed: Installed, chosen: Chosen) -> Plan:
        """Plan the installation.

        Raises:
            DraftRefused: the settings are left alone.
        """
        draft = opened(self.settings_path())
        can_remind = chosen.reminds and self.goes_on
        notes = [not_reminded(self.label)] if chosen.reminds and not can_remind else []
        chosen = replace(chosen, reminds=can_remind)
        groups = self.wanted(home, chosen)
        made = {draft.path: add_entries(draft, groups, hook_prefix(home))}
        drafts = [draft]
        if chosen.mcp or self._holds_server(home):
            path = self.servers_path()
            servers = draft if path == draft.path else opened(path)
            had_ours = draft.had_ours
            made[path] = made.get(path, []) + self._with_server(
                servers, home, installed, mcp=chosen.mcp
            )
            # Two kinds of entries in one file: if either was there before, its edits are unknown.
            draft.had_ours = draft.had_ours or had_ours
            drafts = list(dict.fromkeys((draft, servers)))
        notes += _notes(draft)
        if chosen.summarises and not self.replaced:
            notes.append(f"{self.label} lets no hook replace a tool's output: none is summarised")
        return Plan(
            agent=self.name,
            changes=tuple(change for each in drafts for change in change_of(each)),
            receipts=tuple(
                receipt_of(each, installed.receipt(each.path), made[each.path]) for each in drafts
            ),
            notes=tuple(notes),
            chosen=chosen,
        )

    def _with_server(
        self, draft: Draft, home: Path, installed: Installed, *, mcp: bool
    ) -> list[str]:
        """Make the file of servers name ours or not; return what was made to hold it."""
        server = self.server(home)
        if mcp:
            return add_server(draft, server)
        receipt = installed.receipt(draft.path)
        remove_server(draft, server, () if receipt is None else receipt.made)
        return []

    def own_files(self, home: Path) -> list[Path]:
        """Return the settings, and the file of servers if it may hold ours."""
        servers = [self.servers_path()] if self._holds_server(home) else []
        return [self.settings_path(), *servers]

    def restored(self, draft: Draft, home: Path, receipt: Receipt | None) -> bool:
        """Undo an installation; return True if the file is ours and now empty."""
        server = self.server(home)
        if self.servers_of is not None and draft.path.name == self.servers_path().name:
            return restore_servers(draft, server, receipt)
        is_exact = receipt is not None and receipt.digest == digest_of(draft.text)
        is_removed = restore(draft, receipt, hook_prefix(home))
        if is_exact or self.servers_of is not None or draft.text is None:
            return is_removed
        remove_server(draft, server, () if receipt is None else receipt.made)
        return receipt is not None and receipt.is_ours and not settings_in(draft)

    def holds(self, home: Path, chosen: Chosen) -> bool:
        """Return whether all hooks are in place."""
        groups = self.wanted(home, chosen)
        has_hooks = has_entries(opened(self.settings_path()), groups, hook_prefix(home))
        return has_hooks and (self.has_mcp(home) or not chosen.mcp)

    def has_mcp(self, home: Path) -> bool:
        """Return whether our MCP server is registered."""
        try:
            return has_server(opened(self.servers_path()), self.server(home))
        except DraftRefused:
            return False

    def problems(self, home: Path) -> list[str]:  # noqa: ARG002 - as for every agent
        """Return the problems that keep its hooks from firing, with their remedies."""
        try:
            return list(_notes(opened(self.settings_path())))
        except DraftRefused as error:
            return [str(error)]


def _notes(draft: Draft) -> tuple[str, ...]:
    if settings_in(draft).get("disableAllHooks") is True:
        return (f'{draft.path} has "disableAllHooks": no hook runs until it is taken out',)
    return ()
