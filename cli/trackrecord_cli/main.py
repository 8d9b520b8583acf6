"""The entry point: which commands there are, and how a failure ends.

A new one is a line in `_SECTIONS`, and one in `_DECLARED` where a resource declares all of it, or
else a module `<name>_.py` with its `command` in a room of `commands/`.

Exit status: 0 done, 1 the answer is no (an unknown id, say), 2 wrong use or bad input, 3 a server
that is needed cannot be reached, 130 interrupted.
"""

import importlib
import os
import sys
from io import TextIOWrapper
from typing import NoReturn

import click

from trackrecord import __version__
from trackrecord.errors import (
    ArtifactDamaged,
    DecisionRefused,
    ServerUnavailable,
    TrackrecordError,
    UnknownId,
    UnknownProject,
)
from trackrecord.process.late_log import configure_late

from .group import CommandGroup
from .output.file_problems import explain_file, explain_missing, is_ours

# What a person looks for together, with the first line of each command's help, by the room of
# `commands/` that they are in. A command is imported when it is called: `--help` shows these lines
# without importing any of them. A test compares them with the commands' own help.
_SECTIONS = {
    "Start": ("start", {
        "up": "Run everything in the foreground, until Ctrl-C, or in the background.",
        "down": "Stop what `trackrecord up` runs in the home, and wait until it has ended.",
        "open": "Open the page in a browser, signed in.",
        "demo": "Run a simulated fleet, and show what was learnt beside the truth.",
        "install": "Make coding agents report their runs by themselves.",
        "uninstall": "Remove what `trackrecord install` added, and nothing else.",
        "doctor": "Show which coding agents report, when they did last, and who gets into Redis.",
        "status": "Show whether outcomes are being learnt, and how much is known.",
    }),
    "Report": ("report", {
        "publish": "Publish outcomes given as JSON or JSON Lines.",
        "import": "Import recorded runs as outcomes.",
        "amend": "Say how a run really went, when that is known later.",
        "feedback": "Judge single patterns, criteria and memories.",
        "errors": "Record and show the errors of tasks in flight.",
        "artifacts": "Store and return oversized tool outputs.",
    }),
    "Ask what was learnt": ("ask", {
        "rankings": "Show what an agent would get in its prompt.",
        "context": "Rank candidates for a prompt under a token budget.",
        "commands": "Show which commands run in your repositories, and which do not.",
        "patterns": "Show what helps and what hurts, and decide about it.",
        "lessons": "Show what tool calls teach, and dismiss what does not help.",
        "competences": "Show which tool procedures have worked, and revise them.",
        "memories": "Store, recall and judge short facts that agents share.",
        "criteria": "Show how far single criteria can be relied on.",
        "projects": "List the projects on record, and how much each has learnt.",
        "runs": "Show what came in: each run's calls, its verdict and the grounds for it.",
        "news": (
            "List what changed: patterns that became proven or warnings, lessons that appeared."
        ),
        "effect": "Show whether advice helps: tasks with it beside tasks without.",
        "explain": "Explain why something stands where it stands.",
    }),
    "Measure": ("measure", {
        "score": "Score outcomes without publishing or recording them.",
        "benchmark": "Measure how a project's work goes, and gate a build on it.",
    }),
    "Run and maintain": ("maintain", {
        "serve": "Serve HTTP alone: traces, logs and hooks of agents become outcomes.",
        "mcp": "Serve agents over stdin and stdout, by the Model Context Protocol.",
        "token": "Create, list, revoke and show tokens for the HTTP server.",
        "dead": "Show, replay or discard outcomes that could not be learnt.",
        "consolidate": "Turn new episodes into competence records now.",
        "rebuild": "Compute every statistic of a project anew.",
        "prune": "Remove what is older than the retention settings say, now.",
        "forget": "Erase a source, a task or a whole project everywhere.",
        "export": "Export a project with everything that is known of it.",
        "backup": "Write the whole store to one file, while it is in use.",
        "restore": "Replace the whole store by a backup.",
    }),
}  # fmt: skip
# Those that their resource declares whole: where that is, and its name there.
_DECLARED = {
    "criteria": ("experience.criteria", "CRITERIA"),
    "dead": ("operation.dead_letters", "DEAD_LETTERS"),
    "errors": ("reports.errors_in_flight", "ERRORS"),
    "feedback": ("reports.feedback", "FEEDBACK"),
    "memories": ("experience.memories", "MEMORIES"),
    "news": ("operation.news", "NEWS"),
    "patterns": ("experience.patterns", "PATTERNS"),
}
_ROOMS = {name: room for room, commands in _SECTIONS.values() for name in commands}
COMMANDS = {name: text for _, commands in _SECTIONS.values() for name, text in commands.items()}

NO = 1
WRONG_USE = 2
UNREACHABLE = 3
INTERRUPTED = 130


class _LazyGroup(CommandGroup):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        if cmd_name not in COMMANDS:
            return None
        if cmd_name in _DECLARED:
            from .resource_commands import declared

            home, name = _DECLARED[cmd_name]
            resources = importlib.import_module(f"trackrecord.resources.{home}")
            return declared(getattr(resources, name))
        # `import` is a word of the language.
        module = importlib.import_module(f".commands.{_ROOMS[cmd_name]}.{cmd_name}_", __package__)
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        with formatter.section("Commands"):
            for title, (_, commands) in _SECTIONS.items():
                with formatter.section(title):
                    formatter.write_dl([*commands.items()])


def _show_version(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(f"trackrecord, version {__version__}")
        ctx.exit()


@click.command(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Settings come from TRACKRECORD_… variables, then from your trackrecord.toml.",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """Keep a track record for a fleet of AI agents.

    Agents report how tasks went; trackrecord works out what helps, what hurts and which tool
    procedures succeed, and hands that back when the next prompt is written.
    """


def main() -> NoReturn:
    """Run the command line and end the process with its exit status."""
    for stream in (sys.stdout, sys.stderr):
        # What the encoding of a terminal or a pipe lacks is escaped there, and no reason to fail.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    configure_late("warning")
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command; every failure that a person can cause is one line on standard error."""
    try:
        _check_encoding(arguments)
        result = cli.main(
            args=_with_help(arguments), prog_name="trackrecord", standalone_mode=False
        )
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return WRONG_USE
    except click.ClickException as error:
        _say(_usage(error))
        return WRONG_USE
    except (click.Abort, KeyboardInterrupt) as error:
        _say_interrupted(error)
        return INTERRUPTED
    except TrackrecordError as error:
        status = _status_of(error)
        _say(" ".join([str(error), *(f"({note})" for note in getattr(error, "__notes__", ()))]))
        if status == NO and "--json" in arguments:
            _say_in_json(error)
        return status
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
        _say(explain_file(error))
        return WRONG_USE
    return result if isinstance(result, int) else 0


def _with_help(arguments: list[str]) -> list[str]:
    """Return the arguments, where `help COMMAND` is `COMMAND --help`."""
    return [*arguments[1:], "--help"] if arguments[:1] == ["help"] else arguments


def _check_encoding(arguments: list[str]) -> None:
    """Refuse what no project, id or text can hold, before anything else sees it."""
    for place, argument in enumerate(arguments, start=1):
        try:
            argument.encode()
        except UnicodeEncodeError:
            message = f"argument {place} is not UTF-8: {argument!a}; write it in UTF-8"
            raise click.UsageError(message) from None


def _usage(error: click.ClickException) -> str:
    """Return one line with the error of usage, and where to read about the right one."""
    message = " ".join(error.format_message().split()).removesuffix(".")
    ctx = getattr(error, "ctx", None)
    return message if ctx is None else f"{message} (see `{ctx.command_path} --help`)"


def _status_of(error: TrackrecordError) -> int:
    if isinstance(error, ServerUnavailable):
        return UNREACHABLE
    return NO if isinstance(error, (UnknownId, DecisionRefused, ArtifactDamaged)) else WRONG_USE


def _say(message: str) -> None:
    click.echo(f"trackrecord: {message}", err=True)


def _say_interrupted(error: BaseException) -> None:
    if error.__cause__ is None and isinstance(error.__context__, (EOFError, KeyboardInterrupt)):
        click.echo(err=True)  # the line of a question that was not answered
    _say("interrupted")


def _say_in_json(error: TrackrecordError) -> None:
    """Print an error as JSON on standard output if JSON was asked for."""
    from .output.screen import print_json

    document: dict[str, object] = {"error": type(error).__name__, "message": str(error)}
    if isinstance(error, UnknownProject):
        document["project"] = error.project
    if isinstance(error, UnknownId):
        document["nearest"] = error.nearest
    print_json(document)
