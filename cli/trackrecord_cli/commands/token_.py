"""`trackrecord token`: who may use the HTTP server, and how far."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trackrecord.queries.sorting import TOKENS
from trackrecord.resources.paging import Order

from ..access import open_store, read_store, settings_for
from ..arguments.completing import complete
from ..arguments.options import (
    PROJECT_NAME,
    Read,
    json_option,
    limit_option,
    line_of,
    project_option,
    sort_option,
)
from ..group import CommandGroup
from ..output.screen import print_json, print_table, say_more, shown_ids

if TYPE_CHECKING:
    from trackrecord.queries.tokens import KnownToken

_MAX_NAME = 128
_FEW = 100
_PERMISSIONS = {
    "read": "Let the bearer read. This is the default.",
    "write": "Let the bearer read and report.",
    "admin": "Let the bearer read, report, and decide as the command line does.",
}


@click.group("token", cls=CommandGroup)
def command() -> None:
    """Create, list, revoke and show tokens for the HTTP server."""


@command.command("create")
@project_option
@click.option("--all-projects", is_flag=True, help="Let the bearer use every project.")
@click.option("--read", "permission", flag_value="read", default="read", help=_PERMISSIONS["read"])
@click.option("--write", "permission", flag_value="write", help=_PERMISSIONS["write"])
@click.option("--admin", "permission", flag_value="admin", help=_PERMISSIONS["admin"])
@click.option(
    "--name",
    type=Read("name", line_of(_MAX_NAME)),
    help="Say what the token is for, to tell it from others on the list.",
)
@json_option
def create(
    project: str | None, permission: str, name: str | None, *, all_projects: bool, as_json: bool
) -> None:
    """Create a token and print it: it is stored hashed, and cannot be shown again.

    The bearer sees one project, which need not be on record yet, unless --all-projects is given.
    """
    from trackrecord.changes.tokens import create_token
    from trackrecord.wire.access_tokens import Permission

    if all_projects and project is not None:
        message = "name a project or use --all-projects, not both"
        raise click.UsageError(message)
    settings, own = settings_for(project)
    with open_store(settings) as engine:
        made = create_token(
            engine,
            project=None if all_projects else own,
            permission=Permission[permission.upper()],
            name=name or "",
        )
    if as_json:
        print_json(made.to_document())
        return
    click.echo(made.token)
    click.echo(
        f"may {permission} in {_projects(made.known)}; keep it: it is not shown again", err=True
    )


@command.command("list")
@click.option(
    "--project",
    type=PROJECT_NAME,
    shell_complete=complete("project"),
    help="List only the tokens of this project.",
)
@limit_option("tokens", default=_FEW)
@sort_option(TOKENS)
@json_option
def list_them(project: str | None, limit: int, order: Order | None, *, as_json: bool) -> None:
    """List the tokens, newest first, those that were revoked included."""
    from trackrecord.queries.tokens import list_tokens

    with read_store(project) as (connection, _, _name):
        found = TOKENS.sorted(list_tokens(connection, project=project), order)
    documents = [token.to_document() for token in found[:limit]]
    if as_json:
        print_json(documents)
        return
    if not documents:
        click.echo("there are no tokens; `trackrecord token create` makes one")
        return
    short = shown_ids([token.id for token in found])
    columns = ("id", "name", "project", "permission", "created_at", "last_used_at", "revoked_at")
    rows = (
        document
        | {
            "id": short[token.id],
            "name": token.name or None,
            "project": token.project or "all projects",
        }
        for token, document in zip(found, documents, strict=False)
    )
    print_table(columns, ([row[column] for column in columns] for row in rows))
    say_more(len(found) - len(documents), "tokens")


@command.command("revoke")
@click.argument("token_id", metavar="ID", shell_complete=complete("token"))
@json_option
def revoke(token_id: str, *, as_json: bool) -> None:
    """Revoke a token: within five seconds its bearer is refused.

    It stays on the list. Revoking it again changes nothing.
    """
    from trackrecord.changes.tokens import revoke_token
    from trackrecord.wire.access_tokens import id_of_token

    settings, _ = settings_for(None)
    with open_store(settings) as engine:
        # Whoever has found a token somewhere has no other name for it.
        revoked = revoke_token(engine, id_of_token(token_id) or token_id)
    if as_json:
        print_json(revoked.to_document())
    else:
        known = revoked.known
        is_new = "revoked" if revoked.is_new else "was revoked before"
        click.echo(f"{known.id}: {is_new}; it was for {_projects(known)}")


@command.command("show")
@click.option(
    "--report", "only_reports", is_flag=True, help="Print one that may only report what is traced."
)
def show(*, only_reports: bool) -> None:
    """Print the server's own token, for programs of this user.

    It is for everything in every project: with --report for traces, logs and scores alone, for
    programs that send it to whatever listens on the port. It stays the same.
    """
    from trackrecord.errors import UnknownId
    from trackrecord_door.access.stored_tokens import reporting_token, with_own_token

    settings, _ = settings_for(None)
    token = with_own_token(settings).http.token
    if token is None:
        message = "TRACKRECORD_HTTP__OPEN_TO_LOCAL_USERS is set: the server needs no token"
        raise UnknownId(message)
    click.echo(reporting_token(token) if only_reports else token)


def _projects(token: KnownToken) -> str:
    return "all projects" if token.project is None else f"project {token.project!r}"
