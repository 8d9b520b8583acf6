"""The FORMAT of `trackrecord import`, as an argument: an agent, or a format of recorded runs.

The formats are those of `trackrecord_producers.importers.register`, imported when one is named.
"""

from __future__ import annotations

import click

from .options import OneOf

AGENTS = ("all", "claude-code", "codex", "opencode")


class _Format(click.ParamType[str]):
    name = "format"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name if there is such an agent or such an importer."""
        from trackrecord_producers.importers.register import FORMATS

        return OneOf(sorted((*AGENTS, *FORMATS))).convert(value, param, ctx)


FORMAT = _Format()
