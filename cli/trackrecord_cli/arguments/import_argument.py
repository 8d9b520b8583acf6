"""The FORMAT argument: a format of recorded runs, or, for `trackrecord import`, an agent as well.

The formats are those of `trackrecord_producers.importers.register`, imported when one is named.
"""

from __future__ import annotations

import click

from trackrecord_capture.sources.register import agent_names

from .options import OneOf

AGENTS = ("all", *agent_names())


class _Format(click.ParamType[str]):
    name = "format"

    def __init__(self, *others: str) -> None:
        self._others = others

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name if something of that name can be imported."""
        from trackrecord_producers.importers.register import FORMATS

        return OneOf(sorted((*self._others, *FORMATS))).convert(value, param, ctx)


FORMAT = _Format()
EVALUATED = _Format("moments")
AGENT_OR_FORMAT = _Format(*AGENTS)
