"""Options that many commands share."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from trackrecord.errors import InvalidTime
from trackrecord.moments import parse_moment
from trackrecord.outcome import DEFAULT_PROJECT

_Command = TypeVar("_Command", bound=Callable[..., Any])


class Moment(click.ParamType[float]):
    """A moment in time: ISO 8601, or seconds since the epoch."""

    name = "time"

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Seconds since the epoch."""
        if isinstance(value, float):
            return value
        try:
            return parse_moment(value)
        except InvalidTime as error:
            self.fail(str(error), param, ctx)


class ProjectName(click.ParamType[str]):
    """A project's name: 1 to 128 characters."""

    name = "name"

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        """The name as it is."""
        if not 1 <= len(value) <= 128 or "\0" in value:
            self.fail("a project's name has 1 to 128 characters", param, ctx)
        return str(value)


def project_option(command: _Command) -> _Command:
    """`--project NAME`."""
    return click.option(
        "--project",
        type=ProjectName(),
        default=None,
        help=f"Whose experience is meant.  [default: the setting, else {DEFAULT_PROJECT}]",
    )(command)


def at_option(command: _Command) -> _Command:
    """`--at TIME`."""
    return click.option(
        "--at",
        type=Moment(),
        default=None,
        help="Answer as of that moment: ISO 8601 (UTC unless it has an offset) or epoch seconds.",
    )(command)


def json_option(command: _Command) -> _Command:
    """`--json`."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document and nothing else."
    )(command)
