"""`trackrecord completion`: scripts for shells to complete commands and options."""

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

from ...arguments.options import OneOf

_SHELLS = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


@click.command("completion")
@click.argument("shell", metavar="bash|zsh|fish", type=OneOf(list(_SHELLS)))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script that lets a shell complete commands and options.

    \b
    Add one line to the start-up file of your shell:
    bash, ~/.bashrc:                    eval "$(trackrecord completion bash)"
    zsh, ~/.zshrc, after compinit:      eval "$(trackrecord completion zsh)"
    fish, ~/.config/fish/config.fish:   trackrecord completion fish | source
    """  # noqa: D301 - click keeps the lines of a paragraph that begins with a backspace
    root = ctx.find_root()
    script = _SHELLS[shell](root.command, {}, "trackrecord", "_TRACKRECORD_COMPLETE")
    click.echo(script.source())
