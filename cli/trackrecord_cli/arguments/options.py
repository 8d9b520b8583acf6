"""Options that many commands share."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from trackrecord.errors import InvalidRequest, InvalidTime
from trackrecord.learning.text.project_names import DEFAULT_PROJECT, checked_project
from trackrecord.learning.text.spelling import closest
from trackrecord.learning.text.times import parse_moment
from trackrecord.resources.declaration.checks import (
    commit_problem,
    plain_commit,
    text_problem,
    user_name,
)
from trackrecord.resources.declaration.paging import Sorting

Command = TypeVar("Command", bound=Callable[..., Any])
_Value = TypeVar("_Value")


class Read(click.ParamType[_Value]):
    """The value of a function that reads the typed text.

    Args:
        name: what stands for it in the help.
        read: raises ValueError with what is wanted, or InvalidTime.
    """

    def __init__(self, name: str, read: Callable[[str], _Value]) -> None:
        self.name = name
        self._read = read

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> _Value:
        """The value; a default that is one already stays as it is."""
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return] # a default of ours
        try:
            return self._read(value)
        except (ValueError, InvalidTime, InvalidRequest) as error:
            self.fail(str(error), param, ctx)


class OneOf(click.Choice[str]):
    """One of several names; a misspelt one is refused with the name that was probably meant."""

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        """Return the name."""
        try:
            return str(super().convert(value, param, ctx))
        except click.BadParameter as error:
            nearest = closest(str(value), map(str, self.choices))
            if nearest is None:
                raise
            message = f"{error.message.removesuffix('.')}; did you mean {nearest!r}?"
            raise click.BadParameter(message, ctx, param) from None


def line_of(most: int) -> Callable[[str], str]:
    """Reads a non-blank text of bounded length, without the spaces around it."""
    return lambda value: name_of(most)(value.strip())


def name_of(most: int) -> Callable[[str], str]:
    """Reads a name as it is."""
    return lambda value: _sound(value, text_problem(value, most))


def commit_of(text: str) -> str:
    """Reads the SHA of a commit, or the beginning of it."""
    commit = plain_commit(text)
    return _sound(commit, commit_problem(commit))


def _sound(value: str, problem: str | None) -> str:
    if problem is not None:
        raise ValueError(problem)
    return value


_ACTOR = Read("text", line_of(128))
REASON = Read("text", line_of(1000))
MOMENT = Read("time", parse_moment)
PROJECT_NAME = Read("name", checked_project)


def only_project_option(help_text: str) -> Callable[[Command], Command]:
    """`--project NAME`, where without it all projects are meant."""
    return click.option("--project", type=PROJECT_NAME, default=None, help=help_text)


project_option = only_project_option(
    "Use the project of this name.  [default: the setting `project`, else the project of the "
    f"repository, else {DEFAULT_PROJECT}]"
)


# Of a list that is of one project otherwise.
all_option = click.option(
    "--all",
    "of_all",
    is_flag=True,
    help="List those of all projects, and name the project of each.",
)


def _condition(text: str) -> tuple[str, str]:
    name, mark, value = (part.strip() for part in text.partition("="))
    if not name or not mark or not value:
        message = f"a condition is NAME=VALUE, for example os=linux, {text!r} is not"
        raise ValueError(message)
    return name, value


def conditions_option(help_text: str) -> Callable[[Command], Command]:
    """`--condition NAME=VALUE`, any number of times."""
    return click.option(
        "--condition",
        "conditions",
        type=Read("name=value", _condition),
        multiple=True,
        callback=lambda _context, _option, pairs: dict(pairs) or None,
        help=help_text,
    )


asked_conditions_option = conditions_option(
    "Say under which conditions the task appeared, for example os=linux: what was used under other "
    "ones ranks below, what was used under these ranks above. Can be repeated."
)


at_option = click.option(
    "--at",
    type=MOMENT,
    default=None,
    help="Answer as of this moment: ISO 8601 (UTC unless it has an offset) or epoch seconds.",
)


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document and nothing else."
)


def limit_option(
    things: str, *, default: int | None = None, most: int | None = None
) -> Callable[[Command], Command]:
    """`--limit N`.

    Args:
        things: what is listed, for the help.
        default: None for all of them.
        most: the largest number that is allowed, None for any.
    """
    return click.option(
        "--limit",
        type=click.IntRange(min=1, max=most),
        metavar="N",
        default=default,
        show_default=default is not None or "all",
        help=f"Show at most this many {things}.",
    )


def sort_option(sorting: Sorting[Any]) -> Callable[[Command], Command]:
    """`--sort KEY`."""
    return click.option(
        "--sort",
        "order",
        type=Read("key", sorting.order),
        shell_complete=lambda _ctx, _option, typed: [
            key for key in sorting.keys if key.startswith(typed)
        ],
        default=None,
        help=f"Put the {sorting.things} in this order: {', '.join(sorting.keys)}; with a minus "
        "before it, as in -"
        f"{list(sorting.keys)[-1]}, the largest or newest come first.",
    )


lang_option = click.option(
    "--lang",
    type=OneOf(["en", "zh"]),
    default="en",
    show_default=True,
    help="Answer in this language: names, ids and what agents wrote stay as they are.",
)


format_option = click.option(
    "--format",
    "form",
    type=OneOf(["table", "prompt"]),
    default="table",
    show_default=True,
    help="Print a table, or the prompt text itself.",
)


def _section(name: str) -> str:
    from trackrecord.prompt.question.rules import checked_sections

    checked_sections((name,))
    return name


def sections_options(command: Command) -> Command:
    """Add `--include SECTION` and `--exclude SECTION`, each repeatable."""
    section = Read("section", _section)
    for name, does in (
        ("--exclude", "Do not answer with this section"),
        ("--include", "Answer with this section only"),
    ):
        command = click.option(
            name, multiple=True, type=section, metavar="SECTION", help=f"{does}; repeatable."
        )(command)
    return command


def actor_option(name: str, help_text: str) -> Callable[[Command], Command]:
    """The option that names who makes a change.

    Args:
        name: of the option.
        help_text: its help, without the default.
    """
    return click.option(
        name,
        "actor",
        type=_ACTOR,
        default=user_name,
        help=f"{help_text}  [default: the user's name]",
    )
