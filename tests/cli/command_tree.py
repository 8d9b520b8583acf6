"""The commands of the command line, for tests that go through all of them."""

from collections.abc import Iterator

import click

from trackrecord_cli.main import cli

Path = tuple[str, ...]


def leaves(command: click.Command = cli, path: Path = ()) -> Iterator[tuple[Path, click.Command]]:
    """Yield each command that is not a group, with the words that it is called by."""
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        for name in command.list_commands(ctx):
            found = command.get_command(ctx, name)
            assert found is not None
            yield from leaves(found, (*path, name))
    else:
        yield path, command
