"""`trackrecord token`: who may use the HTTP server, and how far."""

import click

from trackrecord.errors import UnknownId
from trackrecord.resources.operation.tokens import MAX_NAME, TOKENS, create_token

from ...access import open_store, settings_for
from ...arguments.options import Read, json_option, line_of, project_option
from ...output.screen import print_json
from ...resource_commands import group_of

_PERMISSIONS = {
    "read": "Let the bearer read. This is the default.",
    "write": "Let the bearer read and report.",
    "admin": "Let the bearer read, report, and decide as the command line does.",
}


command = group_of(TOKENS)


@command.command("create")
@project_option
@click.option("--all-projects", is_flag=True, help="Let the bearer use every project.")
@click.option("--read", "permission", flag_value="read", default="read", help=_PERMISSIONS["read"])
@click.option("--write", "permission", flag_value="write", help=_PERMISSIONS["write"])
@click.option("--admin", "permission", flag_value="admin", help=_PERMISSIONS["admin"])
@click.option(
    "--name",
    type=Read("name", line_of(MAX_NAME)),
    help="Say what the token is for, to tell it from others on the list.",
)
@json_option
def create(
    project: str | None, permission: str, name: str | None, *, all_projects: bool, as_json: bool
) -> None:
    """Create a token and print it: it is stored hashed, and cannot be shown again.

    The bearer sees one project, which need not be on record yet, unless --all-projects is given.
    """
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
    click.echo(f"may {permission} in {made.projects}; keep it: it is not shown again", err=True)


@command.command("show")
@click.option(
    "--report", "only_reports", is_flag=True, help="Print one that may only report what is traced."
)
def show(*, only_reports: bool) -> None:
    """Print the server's own token, for programs of this user.

    It is for everything in every project: with --report for traces, logs and scores alone, for
    programs that send it to whatever listens on the port. It stays the same.
    """
    from trackrecord_door.access.tokens import reporting_token, with_own_token

    settings, _ = settings_for(None)
    token = with_own_token(settings).http.token
    if token is None:
        message = "TRACKRECORD_HTTP__OPEN_TO_LOCAL_USERS is set: the server needs no token"
        raise UnknownId(message)
    click.echo(reporting_token(token) if only_reports else token)
