"""`trackrecord import`: recorded runs as outcomes."""

from __future__ import annotations

from pathlib import Path

import click

from trackrecord_capture.sources.register import agent_names

from ...arguments.options import OneOf, json_option, project_option

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


@click.command("import")
@click.argument("form", metavar="FORMAT", type=AGENT_OR_FORMAT)
@click.argument("paths", metavar="[PATH...]", nargs=-1, type=click.Path(path_type=Path))
@project_option
@json_option
@click.option(
    "--wait", is_flag=True, help="Wait until the outcomes are learnt; sessions always are."
)
@click.option(
    "--again", is_flag=True, help="Import sessions from their start, also where nothing is new."
)
def command(
    form: str,
    paths: tuple[Path, ...],
    project: str | None,
    *,
    wait: bool,
    again: bool,
    as_json: bool,
) -> int:
    """Import recorded runs as outcomes.

    FORMAT names a coding agent whose sessions are recorded on this machine, or is all for all of
    them; `trackrecord install` lists them. Without a PATH the sessions are looked for where the
    agent keeps them. Each run belongs to the project of its folder, unless --project names one.
    What was learnt from them is shown at the end. If no server runs, one is started for as long as
    it takes.

    FORMAT is else jsonl: outcomes as the wire format describes them, in the files that PATH names.
    Importing twice changes nothing; the answer says how many outcomes
    were new, and how many were known already. A file that `trackrecord export` wrote is recognised
    and imported as a whole, into a project that has no data yet.
    """
    if form in AGENTS:
        from ...history.importing import ImportRequest, import_history

        wanted = ImportRequest(form, paths, project, again=again)
        return import_history(wanted, as_json=as_json)
    from ...history.file_importing import import_files

    return import_files(paths, project, wait=wait, as_json=as_json)
