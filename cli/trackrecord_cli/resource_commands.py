"""The commands of a resource, from what its calls are noted with: options, JSON and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from inspect import Parameter, signature
from typing import Any, Final

import click

from trackrecord.resources.checks import Argument, FromInput, IdOf, arguments_of
from trackrecord.resources.docstrings import read_docstring
from trackrecord.resources.paging import Order
from trackrecord.resources.resource import Answer, Operation, Resource

from .access import own_store
from .completing import complete
from .group import CommandGroup
from .options import (
    OneOf,
    Read,
    at_option,
    json_option,
    limit_option,
    project_option,
    sort_option,
)
from .screen import on_terminal, print_json, print_table, say_more, shown_ids
from .text_input import text_or_input

# Returns by id what is drawn beside some of the answers of a project, as of a moment.
Trends = Callable[[Sequence[str], str, float | None], Mapping[str, str]]

_COMMON: Final = frozenset({"project", "at", "limit", "after"})
_TREND: Final = "trend"


def group_of(resource: Resource, *, trends: Trends) -> click.Group:
    """Return the group of commands that the calls of a resource are noted with.

    Args:
        resource: whose commands.
        trends: draws the column `trend` of a list, which only people are shown.
    """
    return _ResourceGroup(resource, trends)


class _ResourceGroup(CommandGroup):
    """Makes each command when it is called."""

    def __init__(self, resource: Resource, trends: Trends) -> None:
        super().__init__(resource.name, help=resource.help)
        self._resource, self._trends = resource, trends
        self._operations = {each.command: each for each in resource.operations if each.command}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return sorted(self._operations)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        operation = self._operations.get(cmd_name)
        return None if operation is None else _command_of(self._resource, operation, self._trends)


def _command_of(resource: Resource, operation: Operation, trends: Trends) -> click.Command:
    said = read_docstring(operation.call)
    command = click.Command(
        operation.command,
        params=[*_arguments(operation)],
        callback=partial(_run, resource, operation, trends),
        help=f"{said.summary}\n\n{said.text}".strip(),
    )
    for option in _common_options(operation):
        command = option(command)
    command.params += _own_options(operation)
    return command


def _common_options(operation: Operation) -> list[Callable[[click.Command], click.Command]]:
    takes = signature(operation.call).parameters
    options: list[Callable[[Any], Any]] = [project_option]
    if "at" in takes:
        options.append(at_option)
    if operation.sorting is not None:
        options.append(sort_option(operation.sorting))
        limit = arguments_of(operation.call)["limit"]
        default = takes["limit"].default
        most = None if default is None else int(limit.bounds.le or 0)
        options.append(limit_option(operation.sorting.things, default=default, most=most))
    return [*options, json_option]


def _arguments(operation: Operation) -> Iterator[click.Parameter]:
    known = arguments_of(operation.call)
    for name, each in signature(operation.call).parameters.items():
        if each.kind is Parameter.POSITIONAL_OR_KEYWORD:
            id_of, typed = known[name].mark(IdOf), known[name].mark(FromInput)
            metavar = "ID" if id_of else f"{name.upper()}|-" if typed else name.upper()
            completer = complete(id_of.thing) if id_of else None
            yield click.Argument([name], metavar=metavar, shell_complete=completer)


def _own_options(operation: Operation) -> Iterator[click.Parameter]:
    known, said = arguments_of(operation.call), read_docstring(operation.call).names
    for name, each in signature(operation.call).parameters.items():
        if each.kind is not Parameter.KEYWORD_ONLY or name in _COMMON:
            continue
        text = operation.option_help.get(name) or _help(said[name])
        option = name.replace("_", "-")
        if known[name].kind is bool:
            flag = f"--no-{option}" if each.default else f"--{option}"
            yield click.Option([flag, name], is_flag=True, flag_value=not each.default,
                               default=each.default, help=text)  # fmt: skip
        else:
            kind = _kind(known[name])
            yield click.Option([f"--{option}", name], type=kind, default=each.default, help=text)


def _help(description: str) -> str:
    """Return the help of an option: "The least age" sets it, "Only old ones" shows these."""
    verb = "Show" if description.startswith("Only ") else "Set"
    return f"{verb} {description[:1].lower()}{description[1:]}"


def _kind(argument: Argument) -> click.ParamType[Any]:
    if argument.choices:
        return OneOf(argument.choices)

    def read(text: str) -> object:
        value = argument.from_text(text)
        problem = argument.problem_with(value)
        if problem is not None:
            raise ValueError(problem)
        return value

    return Read("name" if argument.kind is str else "number", read)


def _run(
    resource: Resource,
    operation: Operation,
    trends: Trends,
    *,
    project: str | None,
    as_json: bool,
    order: Order | None = None,
    **given: Any,  # noqa: ANN401 - what the call takes
) -> None:
    for name, argument in arguments_of(operation.call).items():
        if (typed := argument.mark(FromInput)) is not None:
            given[name] = text_or_input(given[name], typed.noun)
    with own_store(project) as name:
        if not operation.is_list:
            answer = operation.call(**given, project=name)
            if as_json:
                print_json(operation.document_of(answer))
            else:
                click.echo(operation.in_words(answer))
            return
        found, beyond = _listed(operation, name, order, given)
        if as_json:
            print_json([each.to_document() for each in found])
        elif not found:
            click.echo(operation.nothing.format(project=name))
        else:
            drawn = (
                trends([each.id for each in found], name, given.get("at"))
                if _TREND in operation.columns
                else {}
            )
            _print(resource, operation, found, name, drawn)
            assert operation.sorting is not None  # noqa: S101 - it is a list
            say_more(beyond, operation.sorting.things)


def _listed(
    operation: Operation, project: str, order: Order | None, given: dict[str, Any]
) -> tuple[list[Any], int]:
    """Return what a list holds within its limit, and how much it holds beyond."""
    assert operation.sorting is not None  # noqa: S101 - it is a list
    if operation.total is None:
        found = operation.call(**given, project=project)
        return operation.sorting.sorted(found, order), 0
    limit = given.pop("limit")
    found = operation.call(**given, limit=None if order else limit, project=project)
    found = operation.sorting.sorted(found, order)[:limit]
    is_whole = limit is None or len(found) < limit
    total = len(found) if is_whole else operation.total(**given, project=project)
    return found, total - len(found)


def _print(
    resource: Resource,
    operation: Operation,
    found: list[Any],
    project: str,
    drawn: Mapping[str, str],
) -> None:
    columns = [name for name in operation.columns if name != _TREND or on_terminal()]
    ids: Mapping[str, str] = {}
    if "id" in columns:
        shown = [each.id for each in found]
        ids = shown_ids(shown, resource.other_ids(project, shown) if on_terminal() else ())

    def cell(column: str, answer: Answer, document: Mapping[str, Any]) -> object:
        if column in operation.cells:
            return operation.cells[column](answer)
        if column == "id":
            return ids[document["id"]]
        return drawn.get(document["id"], "") if column == _TREND else document[column]

    rows = ((each, each.to_document()) for each in found)
    print_table(
        columns, ([cell(name, answer, document) for name in columns] for answer, document in rows)
    )
