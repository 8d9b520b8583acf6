"""The name of an importer as an argument; the importers are imported when one is named."""

from __future__ import annotations

import click


class _Format(click.ParamType[str]):
    name = "format"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name if there is such an importer."""
        from trackrecord_producers.importers import FORMATS

        return str(click.Choice(sorted(FORMATS)).convert(value, param, ctx))


FORMAT = _Format()
