"""A group of commands that suggests the nearest command when one is misspelt."""

import click

from trackrecord.learning.text.spelling import closest


class CommandGroup(click.Group):
    """Suggests the command that was probably meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; for an unknown one, suggest the nearest name."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            # Click's own suggestions know only the commands that a group holds, and differ from
            # version to version.
            nearest = closest(args[0], self.list_commands(ctx))
            hint = f" Did you mean {nearest!r}?" if nearest else ""
            message = f"No such command {args[0]!r}.{hint}"
            raise click.UsageError(message, ctx) from None
