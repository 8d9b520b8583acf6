"""opencode: one file among its plugins."""

import json
import os
from pathlib import Path
from typing import Final

from ...agents.draft import DraftRefused, Receipt, digest_of, missing_folders
from ...agents.hook_entries import opened
from ...agents.installed import Installed, folders_of, has_mcp, summarises_outputs
from ...agents.json_text import Edit
from ...agents.on_path import is_on_path
from ...agents.plan import Change, Plan, change_of
from ...agents.runtime import packaged
from ..log_files import data_folder

NAME: Final = "opencode"
LABEL: Final = "opencode"
_FIRST_WORDS: Final = "// trackrecord: "


class OpenCodePlugin:
    """The installation of the plugin by which opencode reports its runs."""

    name = NAME
    label = LABEL

    def folder(self) -> Path:
        """Return where its database is."""
        return data_folder(NAME)

    def plugin_path(self) -> Path:
        """Return the plugin's file."""
        config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
        return Path(config) / "opencode" / "plugins" / "trackrecord.js"

    def is_found(self) -> bool:
        """Return whether it is on this machine."""
        config = self.plugin_path().parent.parent
        return config.is_dir() or self.folder().is_dir() or is_on_path("opencode")

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
            DraftRefused: there is another file of that name.
        """
        draft = opened(self.plugin_path())
        if draft.text is not None and not draft.text.startswith(_FIRST_WORDS):
            message = f"{draft.path} is not a file of trackrecord: left alone"
            raise DraftRefused(message)
        text = plugin(home, summarises=summarises, mcp=mcp)
        if draft.text != text:
            draft.apply([Edit(0, len(draft.text or ""), text)])
        # The whole file is ours: there is nothing to lead back to.
        earlier = None if installed is None else installed.receipt(draft.path)
        receipt = Receipt(
            path=str(draft.path),
            is_ours=True,
            digest=digest_of(draft.text),
            folders=missing_folders(draft.path) if earlier is None else earlier.folders,
        )
        return Plan(agent=NAME, changes=change_of(draft), receipts=(receipt,))

    def uninstall(self, home: Path, installed: Installed | None) -> Plan:
        """Plan the removal.

        Raises:
            DraftRefused: the file was edited, or cannot be read.
        """
        known = [] if installed is None else [Path(each.path) for each in installed.files]
        changes: list[Change] = []
        notes = []
        for path in dict.fromkeys((*known, self.plugin_path())):
            draft = opened(path)
            receipt = None if installed is None else installed.receipt(path)
            written = () if receipt else _versions(home)
            if draft.text is None or (
                digest_of(draft.text) == receipt.digest if receipt else draft.text in written
            ):
                changes += change_of(draft, is_removed=draft.text is not None)
            elif draft.text.startswith(_FIRST_WORDS):
                notes.append(f"{path} was edited by hand: left alone, remove it yourself")
        return Plan(
            agent=NAME,
            changes=tuple(changes),
            folders=folders_of(installed),
            notes=tuple(notes),
        )

    def is_installed(self, home: Path) -> bool:
        """Return whether the plugin is in place."""
        try:
            text = plugin(home, summarises=summarises_outputs(home, NAME), mcp=has_mcp(home, NAME))
            return opened(self.plugin_path()).text == text
        except DraftRefused:
            return False

    def has_mcp(self, home: Path) -> bool:
        """Return whether our MCP server is registered: the plugin does that, where it is to."""
        return has_mcp(home, NAME) and self.is_installed(home)

    def is_trusted(self, home: Path) -> bool | None:  # noqa: ARG002 - as for every agent
        """Return None: opencode does not ask for trust."""
        return None

    def problems(self, home: Path) -> list[str]:  # noqa: ARG002 - as for every agent
        """Return the problems that keep the plugin from working, with their remedies."""
        return []


def plugin(home: Path, *, summarises: bool = False, mcp: bool = False) -> str:
    """Return the plugin, with the folder that it writes to.

    Args:
        home: trackrecord's home.
        summarises: whether it has oversized outputs replaced.
        mcp: whether it registers our MCP server.
    """
    text = packaged("plugin.js", __package__).replace('"@HOME@"', json.dumps(str(home)))
    text = text.replace("@SUMMARISES@", "yes" if summarises else "no")
    return text.replace("@MCP@", "yes" if mcp else "no")


def _versions(home: Path) -> tuple[str, ...]:
    """Return every plugin that an installation writes."""
    return tuple(
        plugin(home, summarises=summarises, mcp=mcp)
        for summarises in (False, True)
        for mcp in (False, True)
    )
