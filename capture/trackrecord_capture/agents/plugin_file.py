"""A plugin in JavaScript, for agents that run every file in a folder: one file, wholly ours."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from .draft import DraftRefused, Receipt, digest_of, missing_folders, opened
from .installed import Chosen, Installed, installed_for
from .json_text import Edit
from .plan import Change, Installation, Plan, change_of, not_reminded
from .runtime import packaged

_FIRST_WORDS: Final = "// trackrecord: "
_SOURCES: Final = "trackrecord_capture.sources"


@dataclass(frozen=True, kw_only=True)
class PluginFile(Installation):
    """The installation of a plugin by which an agent reports its runs.

    Attributes:
        name: the agent's name.
        label: its name for people.
        folder_of: returns where its sessions are.
        plugins_of: returns the folder of its plugins.
    """

    name: str
    label: str
    folder_of: Callable[[], Path]
    plugins_of: Callable[[], Path]

    def folder(self) -> Path:
        """Return where its sessions are."""
        return self.folder_of()

    def plugin_path(self) -> Path:
        """Return the plugin's file."""
        return self.plugins_of() / "trackrecord.js"

    def is_found(self) -> bool:
        """Return whether it is on this machine."""
        places = (self.plugins_of().parent, self.folder())
        return any(place.is_dir() for place in places) or shutil.which(self.name) is not None

    def install(self, home: Path, installed: Installed, chosen: Chosen) -> Plan:
        """Plan the installation.

        Raises:
            DraftRefused: there is another file of that name.
        """
        draft = opened(self.plugin_path())
        if draft.text is not None and not draft.text.startswith(_FIRST_WORDS):
            message = f"{draft.path} is not a file of trackrecord: left alone"
            raise DraftRefused(message)
        text = self.text(home, summarises=chosen.summarises, mcp=chosen.mcp)
        if draft.text != text:
            draft.apply([Edit(0, len(draft.text or ""), text)])
        # The whole file is ours: there is nothing to lead back to.
        earlier = installed.receipt(draft.path)
        receipt = Receipt(
            path=str(draft.path),
            is_ours=True,
            digest=digest_of(draft.text),
            folders=missing_folders(draft.path) if earlier is None else earlier.folders,
        )
        return Plan(
            agent=self.name,
            changes=change_of(draft),
            receipts=(receipt,),
            notes=(not_reminded(self.label),) if chosen.reminds else (),
            chosen=replace(chosen, reminds=False),
        )

    def uninstall(self, home: Path, installed: Installed) -> Plan:
        """Plan the removal.

        Raises:
            DraftRefused: the file was edited, or cannot be read.
        """
        known = [Path(each.path) for each in installed.files]
        changes: list[Change] = []
        notes = []
        for path in dict.fromkeys((*known, self.plugin_path())):
            draft = opened(path)
            receipt = installed.receipt(path)
            written = () if receipt else self._versions(home)
            if draft.text is None or (
                digest_of(draft.text) == receipt.digest if receipt else draft.text in written
            ):
                changes += change_of(draft, is_removed=draft.text is not None)
            elif draft.text.startswith(_FIRST_WORDS):
                notes.append(f"{path} was edited by hand: left alone, remove it yourself")
        return Plan(
            agent=self.name,
            changes=tuple(changes),
            folders=installed.folders,
            notes=tuple(notes),
        )

    def holds(self, home: Path, chosen: Chosen) -> bool:
        """Return whether the plugin is in place."""
        text = self.text(home, summarises=chosen.summarises, mcp=chosen.mcp)
        return opened(self.plugin_path()).text == text

    def has_mcp(self, home: Path) -> bool:
        """Return whether our MCP server is registered: the plugin does that, where it is to."""
        return installed_for(home, self.name).mcp and self.is_installed(home)

    def text(self, home: Path, *, summarises: bool = False, mcp: bool = False) -> str:
        """Return the plugin, with the folder that it writes to.

        Args:
            home: trackrecord's home.
            summarises: whether it has oversized outputs replaced.
            mcp: whether it registers our MCP server.
        """
        own = packaged("plugin.js", f"{_SOURCES}.{self.name}")
        text = packaged("plugin.js") + "\n" + own
        for place, value in (
            ('"@HOME@"', json.dumps(str(home))),
            ("@AGENT@", self.name),
            ("@LABEL@", self.label),
            ("@SUMMARISES@", "yes" if summarises else "no"),
            ("@MCP@", "yes" if mcp else "no"),
        ):
            text = text.replace(place, value)
        return text

    def _versions(self, home: Path) -> tuple[str, ...]:
        """Return every plugin that an installation writes."""
        options = product((False, True), repeat=2)
        return tuple(self.text(home, summarises=one, mcp=other) for one, other in options)
