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

    def get_missing_message(
        self,
        param: click.Parameter,  # noqa: ARG002 - click's signature
        ctx: click.Context | None,  # noqa: ARG002 - as above
    ) -> str:
        """Return the formats to choose from."""
        return f"It is one of {', '.join(self._names())}"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name if something of that name can be imported."""
        return OneOf(self._names()).convert(value, param, ctx)

    def _names(self) -> list[str]:
        from trackrecord_producers.importers.register import FORMATS

        return sorted((*self._others, *FORMATS))


FORMAT = _Format()
EVALUATED = _Format("moments")
AGENT_OR_FORMAT = _Format(*AGENTS)
