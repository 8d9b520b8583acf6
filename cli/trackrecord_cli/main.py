"""The entry point: which commands there are, and how a failure ends.

Exit status: 0 done, 1 the answer is no (an unknown id, say), 2 wrong use or bad input, 3 a server
that is needed cannot be reached, 130 interrupted.
"""

import difflib
import importlib
import os
import sys
from typing import NoReturn

import click

from trackrecord.errors import (
    ArtifactDamaged,
    DecisionRefused,
    ServerUnavailable,
    TrackrecordError,
    UnknownId,
)
from trackrecord.logs import configure_logs

from .entry import explain_missing, is_ours

# Each command lives in the module of its name; commands that are not called are not imported.
COMMANDS = (
    "up",
    "demo",
    "publish",
    "import",
    "score",
    "rankings",
    "patterns",
    "criteria",
    "competences",
    "memories",
    "errors",
    "context",
    "explain",
    "artifacts",
    "consolidate",
    "benchmark",
    "status",
    "dead",
    "rebuild",
)

NO = 1
WRONG_USE = 2
UNREACHABLE = 3
INTERRUPTED = 130


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        if cmd_name not in COMMANDS:
            return None
        # `import` is a word of the language.
        module = importlib.import_module(f".commands.{cmd_name}_", __package__)
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            # Click knows what else there is only in groups that hold their commands.
            close = difflib.get_close_matches(args[0], COMMANDS, n=1)
            if not close:
                raise
            message = f"{error.format_message()} Did you mean {close[0]!r}?"
            raise click.UsageError(message, ctx) from None


@click.command(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Settings come from TRACKRECORD_… variables, then from your trackrecord.toml.",
)
@click.version_option(package_name="trackrecord")
def cli() -> None:
    """A track record for a fleet of AI agents.

    Agents report how tasks went; trackrecord works out what helps, what hurts and which tool
    procedures succeed, and hands that back when the next prompt is written.
    """


def main() -> NoReturn:
    """Run the command line and end the process with its exit status."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command; every failure that a person can cause is one line on standard error."""
    configure_logs("warning")
    try:
        result = cli.main(args=arguments, prog_name="trackrecord", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return WRONG_USE
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted")
        return INTERRUPTED
    except TrackrecordError as error:
        _say(str(error))
        return _status_of(error)
    except ModuleNotFoundError as error:
        if is_ours(error):
            raise
        _say(explain_missing(error))
        return WRONG_USE
    except BrokenPipeError:
        # `trackrecord … | head`: whoever read has seen enough. Nothing more may be flushed there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        _say(f"{error.strerror or error}: {error.filename}" if error.filename else str(error))
        return WRONG_USE
    return result if isinstance(result, int) else 0


def _status_of(error: TrackrecordError) -> int:
    if isinstance(error, ServerUnavailable):
        return UNREACHABLE
    return NO if isinstance(error, (UnknownId, DecisionRefused, ArtifactDamaged)) else WRONG_USE


def _say(message: str) -> None:
    click.echo(f"trackrecord: {message}", err=True)
