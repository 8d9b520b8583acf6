"""The FORMAT argument of `trackrecord import`: an agent, or outcomes as JSON Lines."""

from __future__ import annotations

import click

from trackrecord_capture.sources.register import agent_names

from .options import OneOf

AGENTS = ("all", *agent_names())


class _Format(OneOf):
    def get_missing_message(
        self,
        param: click.Parameter,  # noqa: ARG002 - click's signature
        ctx: click.Context | None,  # noqa: ARG002 - as above
    ) -> str:
        """Return the formats to choose from."""
        return f"It is one of {', '.join(self.choices)}"


AGENT_OR_FORMAT = _Format(sorted((*AGENTS, "jsonl")))
