"""Codex: `notify` in config.toml, and hooks that a person has to trust.

Its exporter of logs is left alone: it would need a token in a file that people share, and tells
nothing that the session's rollout does not.
"""

import json
import re
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ...agents.draft import Draft, DraftRefused, Receipt, is_undone, opened, receipt_of, without_bom
from ...agents.hook_entries import Groups, add_entries, has_entries, our_places, restore
from ...agents.installed import Chosen, Installed
from ...agents.json_text import Edit
from ...agents.mcp_entry import NAME as MCP_NAME
from ...agents.plan import Installation, Plan, change_of
from ...agents.runtime import REMIND, hook_command, hook_prefix, mcp_path, wrapper_path
from ..log_files import home_of

BEGIN: Final = "# >>> trackrecord: `trackrecord uninstall` removes these lines"
END: Final = "# <<< trackrecord"
# What editors look for on the first line.
_DIRECTIVE: Final = re.compile(r"#:[^\n]*\n")


def document(draft: Draft) -> Mapping[str, Any]:
    """Return the parsed document of a file.

    Raises:
        DraftRefused: it is not valid TOML.
    """
    try:
        return tomllib.loads(without_bom(draft.text or "")[1])
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        message = f"{draft.path} is not valid TOML ({error}): left alone"
        raise DraftRefused(message) from None


def add_lines(draft: Draft, lines: Sequence[str]) -> None:
    """Put lines at the top, between two marks.

    Raises:
        DraftRefused: the file would not be valid with them.
    """
    text = draft.text or ""
    newline = "\r\n" if "\r\n" in text else "\n"
    bom, rest = without_bom(text)
    found = _DIRECTIVE.match(rest)
    at = len(bom) + (found.end() if found else 0)
    block = "".join(line + newline for line in (BEGIN, *lines, END))
    draft.apply([Edit(at, at, block)])
    document(draft)


def remove_lines(draft: Draft, is_ours: re.Pattern[str]) -> None:
    """Remove the marks and our lines, even if they were moved.

    Raises:
        DraftRefused: the file is not valid TOML, before or afterwards.
    """
    if draft.text is None:
        return
    document(draft)
    edits, at = [], 0
    for line in draft.text.splitlines(keepends=True):
        if line.strip() in (BEGIN, END) or is_ours.fullmatch(line.strip()):
            edits.append(Edit(at, at + len(line), ""))
        at += len(line)
    draft.had_ours = draft.had_ours or bool(edits)
    draft.apply(edits)
    document(draft)


NAME: Final = "codex"
LABEL: Final = "Codex"
HOME_VARIABLE: Final = "CODEX_HOME"
_TIMEOUT_S: Final = 2
_ASKING: Final = ("SessionStart", "UserPromptSubmit")
_NOTING: Final = "Stop"
_STOPPED: Final = "Interrupt"
_AFTER_TOOL: Final = "PostToolUse"
TRUST: Final = "start codex, enter /hooks and trust the hooks of trackrecord"


class CodexHooks(Installation):
    """The installation of hooks by which Codex reports its runs."""

    name = NAME
    label = LABEL

    def folder(self) -> Path:
        """Return where its configuration and its sessions are."""
        return home_of(HOME_VARIABLE, ".codex")

    def config_path(self) -> Path:
        """Return the file of its configuration."""
        return self.folder() / "config.toml"

    def hooks_path(self) -> Path:
        """Return the file of its hooks."""
        return self.folder() / "hooks.json"

    def is_found(self) -> bool:
        """Return whether it is on this machine."""
        return self.folder().is_dir() or shutil.which("codex") is not None

    def install(self, home: Path, installed: Installed, chosen: Chosen) -> Plan:
        """Plan the installation.

        Raises:
            DraftRefused: a file is left alone.
        """
        config = opened(self.config_path())
        notes = _add_to_config(config, home, mcp=chosen.mcp)
        hooks = opened(self.hooks_path())
        made = add_entries(hooks, _wanted(home, config, chosen), hook_prefix(home))
        if not self._has_trust(config, home):
            notes.append(f"Codex skips new hooks until you trust them: {TRUST}")
        if chosen.summarises:
            notes.append("Codex lets no hook replace a tool's output: none is summarised")
        receipts = [
            receipt_of(draft, installed.receipt(draft.path), names)
            for draft, names in ((config, []), (hooks, made))
        ]
        return Plan(
            agent=NAME,
            changes=(*change_of(config), *change_of(hooks)),
            receipts=tuple(receipts),
            notes=tuple(notes),
            chosen=chosen,
        )

    def own_files(self, home: Path) -> tuple[Path, ...]:  # noqa: ARG002 - as for every agent
        """Return the files of its configuration and of its hooks."""
        return self.config_path(), self.hooks_path()

    def restored(self, draft: Draft, home: Path, receipt: Receipt | None) -> bool:
        """Undo an installation in a file; return whether it is ours and can be deleted."""
        if draft.path.suffix != ".toml":
            return restore(draft, receipt, hook_prefix(home))
        if receipt is None or not is_undone(draft, receipt):
            remove_lines(draft, _pattern(home))
        return receipt is not None and receipt.is_ours and not (draft.text or "").strip()

    def holds(self, home: Path, chosen: Chosen) -> bool:
        """Return whether all that is ours is in place."""
        wanted = _wanted(home, opened(self.config_path()), chosen)
        has_hooks = has_entries(opened(self.hooks_path()), wanted, hook_prefix(home))
        return has_hooks and (self.has_mcp(home) or not chosen.mcp)

    def has_mcp(self, home: Path) -> bool:
        """Return whether our MCP server is registered."""
        try:
            servers = document(opened(self.config_path())).get("mcp_servers")
        except DraftRefused:
            return False
        server = servers.get(MCP_NAME) if isinstance(servers, dict) else None
        return isinstance(server, dict) and server.get("command") == str(mcp_path(home))

    def is_trusted(self, home: Path) -> bool | None:
        """Return whether Codex has our hooks on record as trusted."""
        try:
            return self._has_trust(opened(self.config_path()), home)
        except DraftRefused:
            return False

    def problems(self, home: Path) -> list[str]:
        """Return the problems that keep its hooks from firing, with their remedies."""
        try:
            document(opened(self.config_path()))
        except DraftRefused as error:
            return [str(error)]
        if self.is_installed(home) and not self.is_trusted(home):
            return [f"its hooks are not trusted yet, so nothing is handed to it: {TRUST}"]
        return []

    def _has_trust(self, config: Draft, home: Path) -> bool:
        hooks = document(config).get("hooks")
        state = hooks.get("state") if isinstance(hooks, dict) else None
        if not isinstance(state, dict):
            return False
        keys = self._keys(home)
        return bool(keys) and all(
            isinstance(found := state.get(key), dict)
            and bool(found.get("trusted_hash"))
            and found.get("enabled") is not False
            for key in keys
        )

    def _keys(self, home: Path) -> list[str]:
        """Return the names that Codex gives our hooks: file, event and place."""
        path = self.hooks_path()
        places = our_places(opened(path), hook_prefix(home))
        return [f"{path}:{_snake(event)}:{at}:{place}" for event, at, place in places]


def _add_to_config(config: Draft, home: Path, *, mcp: bool) -> list[str]:
    """Add the missing keys to config.toml; return notes on the existing ones."""
    is_ours = _pattern(home)
    lines = {"notify": _notify_line(home)}
    if mcp:
        lines["mcp"] = _server_line(home)
    notes = []
    present = () if config.text is None else config.text.splitlines()
    is_wanted = mcp or _server_line(home) not in present
    if is_wanted and all(line in present for line in lines.values()):
        document(config)
        return []
    remove_lines(config, is_ours)
    held = document(config)
    if "notify" in held:
        del lines["notify"]
        notes.append(
            f"{config.path} has a notify program of yours, which stays: a hook reports the end of "
            "a turn instead, once it is trusted"
        )
    servers = held.get("mcp_servers")
    if "mcp" in lines and isinstance(servers, dict) and MCP_NAME in servers:
        del lines["mcp"]
        notes.append(f"{config.path} has an MCP server {MCP_NAME!r} of yours, which stays")
    if lines:
        add_lines(config, list(lines.values()))
    return notes


def _notify_line(home: Path) -> str:
    return f"notify = {json.dumps([str(wrapper_path(home)), NAME], ensure_ascii=False)}"


def _server_line(home: Path) -> str:
    return f"mcp_servers.{MCP_NAME}.command = {json.dumps(str(mcp_path(home)), ensure_ascii=False)}"


def _pattern(home: Path) -> re.Pattern[str]:
    """Return what matches our lines."""
    return re.compile("|".join(map(re.escape, (_notify_line(home), _server_line(home)))))


def _wanted(home: Path, config: Draft, chosen: Chosen) -> Groups:
    """Return the hooks, by event; the end of a turn is noted by one where `notify` is taken.

    Nothing else tells of a turn that the person stopped.
    """
    program = document(config).get("notify")
    is_taken = program is not None and program != [str(wrapper_path(home)), NAME]
    events = (*_ASKING, _STOPPED, _NOTING) if is_taken else (*_ASKING, _STOPPED)
    group = _group(home)
    wanted = dict.fromkeys(events, group)
    if chosen.reminds:
        wanted[_NOTING] = _group(home, REMIND)
    # Files are patched and looked at by commands; no other tool's errors are known by their words.
    return {**wanted, _AFTER_TOOL: {"matcher": "Bash", **group}}


def _group(home: Path, *words: str) -> dict[str, Any]:
    command = hook_command(home, NAME, *words)
    return {"hooks": [{"type": "command", "command": command, "timeout": _TIMEOUT_S}]}


def _snake(event: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
