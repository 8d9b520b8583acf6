"""The commands of a resource, generated from its declared calls: options, JSON and tables."""

from __future__ import annotations

import heapq
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from functools import partial
from inspect import Parameter, signature
from typing import Any, Final, NamedTuple

import click

from trackrecord.errors import InvalidRequest, UnknownId, UnknownProject
from trackrecord.learning.text.times import iso
from trackrecord.resources.access.project_store import read_project
from trackrecord.resources.declaration.checks import MOST, Argument, FromInput, IdOf, arguments_of
from trackrecord.resources.declaration.docstrings import read_docstring
from trackrecord.resources.declaration.paging import Order, Sorting
from trackrecord.resources.declaration.resource import Operation, Resource

from .access import TypedId, own_store, say_removed_of, settings_for
from .arguments.options import (
    OneOf,
    Read,
    all_option,
    asked_conditions_option,
    at_option,
    json_option,
    limit_option,
    only_project_option,
    project_option,
    sort_option,
)
from .group import CommandGroup
from .output.screen import (
    coloured_states,
    on_terminal,
    print_details,
    print_json,
    print_table,
    say_more,
    shown_ids,
)

# Far more than any text is used of; a terminal's or a program's output has no end.
_LONGEST = 16 * 1024 * 1024


def text_or_input(given: str, what: str) -> str:
    """Return the text that was given; standard input for "-".

    Args:
        given: the argument.
        what: the noun for the text in a message.

    Raises:
        InvalidRequest: standard input is not UTF-8, or longer than any such text.
    """
    if given != "-":
        return given
    data = sys.stdin.buffer.read(_LONGEST + 1)
    if len(data) > _LONGEST:
        message = f"standard input has more than {_LONGEST} bytes; give a shorter {what}"
        raise InvalidRequest(message)
    try:
        return data.decode()
    except UnicodeDecodeError:
        message = f"standard input is not UTF-8; write the {what} in UTF-8"
        raise InvalidRequest(message) from None


# Returns what is drawn beside each of the answers about a project.
Drawn = Callable[[Sequence[Any], str], Sequence[object]]
# Prints an answer that is no list, for people.
Shown = Callable[[Any], None]

_COMMON: Final = frozenset({"project", "at", "conditions"})
_OF_LISTS: Final = frozenset({"limit", "sort", "after"})
_LONGEST_NAME: Final = 1024
# The help of options that name who decides, and why.
_SIGNED: Final[Mapping[str, str]] = {
    "by": "Name the person who decides.  [default: the user's name]",
    "reason": "Give the reason; the history keeps it.",
}


def declared(resource: Resource, drawn: Mapping[str, Drawn] | None = None) -> click.Command:
    """Return the commands of a resource; one alone where that is named as the resource."""
    if [each.command for each in resource.operations] == [resource.name]:
        return _OfferedCall(resource, resource.operations[0], drawn or {}).command()
    return group_of(resource, drawn=drawn)


def group_of(
    resource: Resource,
    *,
    drawn: Mapping[str, Drawn] | None = None,
    shown: Mapping[str, Shown] | None = None,
    alone: click.Command | None = None,
) -> click.Group:
    """Return the group of commands that the calls of a resource are noted with.

    Args:
        resource: whose commands.
        drawn: by column, what draws its cells for people; programs are shown its cell of the
            resource, or no such column. A column "state" is coloured.
        shown: by command, what prints its answer for people, in place of its fields or words.
        alone: what the group does without a command.
    """
    drawn = {"state": coloured_states, **(drawn or {})}
    return _ResourceGroup(resource, drawn, shown or {}, alone)


class _ResourceGroup(CommandGroup):
    """Generates each command when it is called, but for those that are added written by hand."""

    def __init__(
        self,
        resource: Resource,
        drawn: Mapping[str, Drawn],
        shown: Mapping[str, Shown],
        alone: click.Command | None,
    ) -> None:
        super().__init__(
            resource.name,
            help=resource.help,
            params=alone and [*alone.params],
            callback=alone and alone.callback,
            invoke_without_command=alone is not None,
        )
        self._resource, self._drawn, self._shown = resource, drawn, shown
        self._operations = {each.command: each for each in resource.operations if each.command}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*self._operations, *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        operation = self._operations.get(cmd_name)
        if operation is None or cmd_name in self.commands:
            return super().get_command(ctx, cmd_name)
        shown = self._shown.get(cmd_name)
        return _OfferedCall(self._resource, operation, self._drawn, shown).command()


def _common_options(operation: Operation) -> list[Callable[[click.Command], click.Command]]:
    takes = signature(operation.call).parameters
    is_of_one = operation.scope == "project"
    options: list[Callable[[Any], Any]] = []
    if "project" in takes:
        of_one = project_option if is_of_one else only_project_option(_text(operation, "project"))
        options.append(of_one)
    if operation.rank is not None:
        options.append(all_option)
    if "at" in takes:
        options.append(at_option)
    if "conditions" in takes:
        options.append(asked_conditions_option)
    if operation.sorting is not None:
        options.append(sort_option(operation.sorting))
        limit = arguments_of(operation.call)["limit"]
        default = takes["limit"].default
        most = None if operation.in_pages else int(limit.bounds.le or 0)
        options.append(limit_option(operation.sorting.things, default=default, most=most))
    return [*options, json_option]


def _arguments(operation: Operation) -> Iterator[click.Parameter]:
    known = arguments_of(operation.call)
    for name, each in signature(operation.call).parameters.items():
        if not _is_option(operation, name):
            id_of, typed = known[name].mark(IdOf), known[name].mark(FromInput)
            is_id = id_of and name.endswith(("id", "ids"))
            metavar = "ID" if is_id else f"{name.upper()}|-" if typed else name.upper()
            if choices := known[name].choices:
                yield click.Argument([name], type=OneOf(choices), metavar="|".join(choices))
            elif known[name].is_many:
                yield click.Argument([name], metavar=f"[{metavar}]...", nargs=-1)
            elif each.default is Parameter.empty:
                yield click.Argument([name], metavar=metavar)
            else:
                yield click.Argument([name], metavar=f"[{metavar}]", default=each.default)


def _own_options(operation: Operation) -> Iterator[click.Parameter]:
    known = arguments_of(operation.call)
    for name, each in _own_parameters(operation):
        text = _text(operation, name)
        names = _names(operation, name)
        if known[name].kind is bool:
            flag = f"--no-{names[0]}" if each.default else f"--{names[0]}"
            yield click.Option([flag, name], is_flag=True, flag_value=not each.default,
                               default=each.default, help=text)  # fmt: skip
        else:
            is_name = 0 < (known[name].bounds.max_length or 0) <= _LONGEST_NAME
            kind = _kind(known[name], "name" if is_name and name not in _SIGNED else "text")
            made = click.Option([*(f"--{one}" for one in names), name], type=kind, help=text)
            if each.default is Parameter.empty:
                made.required = True
            else:
                made.default = each.default
                is_told = bool(known[name].choices) or known[name].kind is int
                made.show_default = is_told and each.default is not None
            yield made


def _own_parameters(operation: Operation) -> Iterator[tuple[str, Parameter]]:
    """Yield what an operation takes as options of its own, which its neighbours do not have."""
    for name, each in signature(operation.call).parameters.items():
        is_shared = name in _COMMON or (operation.is_list and name in _OF_LISTS)
        if not is_shared and _is_option(operation, name):
            yield name, each


def _is_option(operation: Operation, name: str) -> bool:
    kind = signature(operation.call).parameters[name].kind
    return kind is Parameter.KEYWORD_ONLY or name in operation.option_names


def _names(operation: Operation, name: str) -> list[str]:
    return operation.option_names.get(name, name).replace("_", "-").split()


def _asked_for(operation: Operation, given: Mapping[str, Any]) -> str:
    """Return the options that a list was narrowed by, as what follows the words for nothing."""
    known = arguments_of(operation.call)

    def shown(name: str) -> str:
        value = given[name]
        is_moment = known[name].kind is datetime
        return "" if value is True else f" {iso(value) if is_moment else repr(value)}"

    asked = [
        f"--{_names(operation, name)[0]}{shown(name)}"
        for name, each in _own_parameters(operation)
        if given.get(name, each.default) != each.default
    ]
    return f" with {' '.join(asked)}" if asked else ""


def _text(operation: Operation, name: str) -> str:
    """Return the help of an option: "The least age" sets it, "Only old ones" shows these."""
    if (text := operation.option_help.get(name) or _SIGNED.get(name)) is not None:
        return text
    description = read_docstring(operation.call).names[name]
    verb = "Show" if description.startswith("Only ") else "Set"
    return f"{verb} {description[:1].lower()}{description[1:]}"


def _kind(argument: Argument, noun: str) -> click.ParamType[Any]:
    if argument.choices:
        return OneOf(argument.choices)

    def read(text: str) -> object:
        value = argument.from_text(text)
        problem = argument.problem_with(value)
        if problem is not None:
            raise ValueError(problem)
        return value

    nouns = {str: noun, datetime: "time"}
    return Read(nouns.get(argument.kind, "number"), read)


class _Row(NamedTuple):
    """An entry of a list.

    Attributes:
        project: whose it is; "" where that does not matter.
        answer: the entry.
    """

    project: str
    answer: Any


class _Found(NamedTuple):
    """The entries of a list that are shown, and how many are not.

    Attributes:
        shown: the entries that are shown.
        rest: other ones that were read with them.
        beyond: how many are not shown; None where nobody knows, but there are some.
    """

    shown: list[_Row]
    rest: list[_Row]
    beyond: int | None


class _OfferedCall(NamedTuple):
    """A call of a resource as its command offers it; see `group_of`.

    Attributes:
        resource: whose call it is.
        operation: the call, as it is declared.
        drawn: what draws cells for people, by column.
        show: what prints its answer for people; None for its fields or words.
    """

    resource: Resource
    operation: Operation
    drawn: Mapping[str, Drawn]
    show: Shown | None = None

    @property
    def sorting(self) -> Sorting[Any]:
        """The ways in which its list can be sorted."""
        assert self.operation.sorting is not None  # noqa: S101 - it is a list
        return self.operation.sorting

    def command(self) -> click.Command:
        """Return its command."""
        said = read_docstring(self.operation.call)
        command = click.Command(
            self.operation.command,
            params=[*_arguments(self.operation)],
            callback=self._run,
            help=f"{said.summary}\n\n{said.text}".strip(),
        )
        for option in _common_options(self.operation):
            command = option(command)
        command.params += _own_options(self.operation)
        return command

    def _run(
        self,
        *,
        as_json: bool,
        project: str | None = None,
        of_all: bool = False,
        order: Order | None = None,
        **given: Any,  # noqa: ANN401 - what the call takes
    ) -> None:
        if of_all and project is not None:
            message = "give either --project or --all"
            raise click.UsageError(message)
        for name, argument in arguments_of(self.operation.call).items():
            if (typed := argument.mark(FromInput)) is not None:
                given[name] = text_or_input(given[name], typed.noun)
        with _opened(self.operation, project, given) as about:
            if self.operation.is_list:
                self._list(about, order, given, of_all=of_all, as_json=as_json)
            else:
                self._answer(about, given, as_json=as_json)

    def _answer(self, about: str | None, given: dict[str, Any], *, as_json: bool) -> None:
        operation = self.operation
        if "project" in signature(operation.call).parameters:
            given["project"] = about
        answer = operation.call(**given)
        is_whole = getattr(answer, "cursor", None) is None
        removed = say_removed_of(about, operation.rests_on, given, is_whole=is_whole)
        more = removed | _say_unknown(operation, given)
        if as_json:
            print_json(operation.document_of(answer) | more)
        elif self.show is not None:
            self.show(answer)
        elif operation.in_words is None:
            print_details(operation.document_of(answer))
        elif words := operation.in_words(answer):
            click.echo(words)

    def _list(
        self,
        about: str | None,
        order: Order | None,
        given: dict[str, Any],
        *,
        of_all: bool,
        as_json: bool,
    ) -> None:
        operation = self.operation
        found = self._listed_of_all(order, given) if of_all else self._listed(about, order, given)
        is_whole = order is not None or found.beyond == 0
        say_removed_of(None if of_all else about, operation.rests_on, given, is_whole=is_whole)
        if not found.shown:
            _say_unknown(operation, given | {"project": about})
        if as_json:
            projects = [{"project": each.project} if of_all else {} for each in found.shown]
            documents = [operation.document_of(each.answer) for each in found.shown]
            print_json([one | two for one, two in zip(projects, documents, strict=True)])
        elif not found.shown:
            nothing = f"no {self.sorting.things} to show in any project"
            nothing = nothing if of_all else operation.nothing.format(project=about or "")
            click.echo(f"{nothing}{_asked_for(operation, given)}")
        else:
            self._print(found, of_all=of_all)
            more = 1 if found.beyond is None else found.beyond
            say_more(more, self.sorting.things, is_exact=found.beyond is not None)

    def _listed(self, project: str | None, order: Order | None, given: dict[str, Any]) -> _Found:
        """Return the entries of a list."""
        operation, sorting = self.operation, self.sorting
        call = partial(operation.call, **given, project=project)
        if not operation.in_pages:
            return _Found(_rows(project, sorting.sorted(call(), order)), [], 0)
        limit = given["limit"]
        # One more than is shown tells whether there are more.
        most = None if limit is None else min(limit + 1, MOST)
        if "sort" in signature(operation.call).parameters:
            found = call(sort=order and str(order), limit=most)
        else:
            reads_all = order is not None or operation.total is None
            found = sorting.sorted(call(limit=None if reads_all else most), order)
        rows = _rows(project, found)
        shown, rest = rows[:limit], [] if limit is None else rows[limit:]
        if operation.total is None or not rest:
            return _Found(shown, rest, len(rest))
        wanted = {name: value for name, value in given.items() if name != "limit"}
        total = operation.total(**wanted, project=project)
        return _Found(shown, rest, None if total is None else total - len(shown))

    def _listed_of_all(self, order: Order | None, given: dict[str, Any]) -> _Found:
        """Return the entries of a list of all projects; no more than --limit of them are held.

        Raises:
            UnknownId: no project has what the list is about, for example a task.
        """
        from trackrecord.store.outcomes.projects import project_names

        with read_project(None) as it:
            projects = project_names(it.connection)
        merged, total, unknown = list[_Row](), 0, list[UnknownId]()
        is_counted = True
        for project in projects:
            try:
                found = self._listed(project, order, given)
            except UnknownId as error:
                unknown.append(error)
                continue
            is_counted &= found.beyond is not None
            total += len(found.shown) + (found.beyond or 0)
            merged = self._merged(order, [merged, found.shown])[: given["limit"]]
        if unknown and len(unknown) == len(projects):
            message = f"{unknown[0]}; nor has any other project"
            raise unknown[0] if len(unknown) == 1 else UnknownId(message)
        return _Found(merged, [], total - len(merged) if is_counted else None)

    def _merged(self, order: Order | None, lists: Sequence[Sequence[_Row]]) -> list[_Row]:
        """Return the entries of lists in the order that each of them has."""
        if order is None:
            rank = self.operation.rank
            assert rank is not None  # noqa: S101 - it can be that of all projects
            return [*heapq.merge(*lists, key=lambda row: rank(row.answer))]
        rows = {id(row.answer): row for each in lists for row in each}
        ordered = self.sorting.sorted((row.answer for row in rows.values()), order)
        return [rows[id(each)] for each in ordered]

    def _print(self, found: _Found, *, of_all: bool) -> None:
        operation, drawn = self.operation, self.drawn
        columns, drawings = operation.columns, dict[str, Sequence[object]]()
        if on_terminal():
            columns = operation.terminal_columns or columns
            drawings = {
                name: _drawings(drawn[name], found.shown) for name in columns if name in drawn
            }
        else:
            columns = tuple(each for each in columns if each not in operation.drawings)
        ids: Mapping[str, str] = {}
        if "id" in columns and "id" not in operation.cells:
            shown, beyond = [[row.answer.id for row in rows] for rows in (found.shown, found.rest)]
            others = (
                [
                    other
                    for project, answers in _by_project(found.shown).items()
                    for other in self.resource.other_ids(project, [each.id for each in answers])
                ]
                if on_terminal()
                else []
            )
            ids = shown_ids(shown, [*beyond, *others])

        def cells(place: int, answer: Any) -> Iterator[object]:  # noqa: ANN401 - an entry of the list
            document = operation.document_of(answer)
            for column in columns:
                if column in drawings:
                    yield drawings[column][place]
                elif column in operation.cells:
                    yield operation.cells[column](answer)
                else:
                    yield ids[document["id"]] if column == "id" else document[column]

        print_table(
            ("project", *columns) if of_all else columns,
            (
                [*([row.project] if of_all else []), *cells(place, row.answer)]
                for place, row in enumerate(found.shown)
            ),
            about=operation.about,
            secondary=operation.secondary,
        )


def _say_unknown(operation: Operation, given: Mapping[str, Any]) -> dict[str, str | None]:
    """Say on standard error what is not on record; return what the answer's JSON has of it."""
    error = operation.unknown and operation.unknown(**given)
    if not error:
        return {}
    click.echo(f"trackrecord: {error}", err=True)
    return {
        "nearest": None if isinstance(error, UnknownProject) else getattr(error, "nearest", None)
    }


@contextmanager
def _opened(
    operation: Operation, project: str | None, given: Mapping[str, Any]
) -> Iterator[str | None]:
    """Open the resources of a call; yields its project, None for all of them."""
    about = _id_in(operation, given) if operation.scope == "project" else None
    if operation.needs_store:
        opened: AbstractContextManager[str] = own_store(project, about)
    else:
        opened = nullcontext(settings_for(project)[1])
    with opened as name:
        yield name if operation.scope == "project" else project


def _id_in(operation: Operation, given: Mapping[str, Any]) -> TypedId | None:
    """Return the id that a call is about, the first of several; None where it names none."""
    for name, argument in arguments_of(operation.call).items():
        narrows_list = operation.is_list and _is_option(operation, name)
        id_of = argument.mark(IdOf)
        if id_of is not None and not narrows_list and given.get(name):
            text = given[name][0] if argument.is_many else given[name]
            return TypedId(text, (id_of.thing,))
    return None


def _rows(project: str | None, answers: Sequence[Any]) -> list[_Row]:
    return [_Row(project or "", each) for each in answers]


def _drawings(draw: Drawn, rows: Sequence[_Row]) -> list[object]:
    """Return what is drawn beside each entry; each project's entries are drawn together."""
    drawn = {
        project: iter(draw(answers, project)) for project, answers in _by_project(rows).items()
    }
    return [next(drawn[row.project]) for row in rows]


def _by_project(rows: Sequence[_Row]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for row in rows:
        found.setdefault(row.project, []).append(row.answer)
    return found
