"""Declare a question or a change once, for Python, HTTP and the command line.

A resource notes how each of its calls is offered: under which path and which command, with which
order and which columns. The calls stay ordinary functions, which callers import; the surfaces read
the notes. What a call may be given stands in its signature, what it answers in a class of answers.
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable, Collection, Mapping
from dataclasses import is_dataclass
from enum import Enum
from functools import cache
from inspect import get_annotations, unwrap
from types import NoneType
from typing import Any, ClassVar, Concatenate, Final, Literal, ParamSpec, Self, TypeVar

from msgspec import UNSET, Struct, field, to_builtins
from msgspec.structs import asdict

from trackrecord.errors import TrackrecordError
from trackrecord.learning.text.times import MOMENT, iso
from trackrecord.learning.text.times import Instant as Instant

from .checks import checking

if typing.TYPE_CHECKING:
    from .paging import Sorting

_P = ParamSpec("_P")
_R = TypeVar("_R")
_Notes = ParamSpec("_Notes")


# What an answer rests on that retention may have removed: outcomes that are listed or counted one
# by one; their texts, which are searched.
RestsOn = Literal["outcomes", "texts"]


def may_lack(
    rests_on: Collection[RestsOn], asked: Mapping[str, Any], *, is_whole: bool = True
) -> frozenset[RestsOn]:
    """Return what an answer rests on of which retention may have removed something that it needs.

    What lists of the newest begin with is kept.

    Args:
        rests_on: what it rests on.
        asked: the arguments of the call, of which `text` matters.
        is_whole: whether what it lists goes back to the oldest.
    """
    kept: set[RestsOn] = set()
    if not is_whole:
        kept |= {"outcomes", "texts"}
    if not asked.get("text"):
        kept.add("texts")
    return frozenset(rests_on) - kept


_AS_IT_IS: Final = frozenset({str, int, float, bool, NoneType})


class Answer(Struct, frozen=True):
    """What a call answers: its fields are those of the JSON, of the HTTP schema and of tables.

    Fields that begin with an underscore are the call's own; those that are unset are left out. In
    the HTTP schema the class has its name without an "Answer" at the end.

    Attributes:
        _first: the fields that come before those of the class that it extends.
    """

    _first: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def taken(cls, *sources: object, **given: Any) -> Self:  # noqa: ANN401 - the class's fields
        """Return an answer; fields that are not given are those of objects, the first that has one.

        Args:
            sources: what was found.
            given: the fields that are called otherwise there, or are worked out.
        """
        for name in cls.__struct_fields__:
            if name not in given:
                for source in sources:
                    if hasattr(source, name):
                        given[name] = getattr(source, name)
                        break
        return cls(**given)

    def to_document(self) -> dict[str, Any]:
        """Return the answer as a JSON object."""
        kind = type(self)
        writers = _writers(kind)
        if writers is None:
            return asdict(self)
        document: dict[str, Any] = {}
        for name, write in writers:
            if (value := getattr(self, name)) is not UNSET:
                document[name] = value if write is None else write(value)
        return document


class HasAnswer:
    """A result that holds more than JSON has of it: the answer is made when it is written."""

    def as_answer(self) -> Answer:
        """Return what JSON has of it."""
        raise NotImplementedError

    def to_document(self) -> dict[str, Any]:
        """Return the answer as a JSON object."""
        return self.as_answer().to_document()


def schema_name(answer: type) -> str:
    """Return what a class of answers is called in the HTTP schema."""
    return answer.__name__.removesuffix("Answer")


@cache
def answer_fields(kind: type[Answer]) -> Mapping[str, Any]:
    """Return the types of an answer's fields, by name."""
    hints: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        # The call's own fields may be of types that are imported for type checkers alone.
        named = get_annotations(base).items()
        public = {name: hint for name, hint in named if not name.startswith("_")}
        holder = type("Holder", (), {"__annotations__": public})
        known = vars(sys.modules[base.__module__])
        hints |= typing.get_type_hints(holder, globalns=known, include_extras=True)
    first: tuple[str, ...] = kind._first
    own = dict.fromkeys((*first, *kind.__struct_fields__))
    return {name: hints[name] for name in own if not name.startswith("_")}


def is_instant(hint: Any) -> bool:  # noqa: ANN401 - a type of any form
    """Return whether a field is a moment, or may be one."""
    return any(
        MOMENT in getattr(each, "__metadata__", ()) for each in (hint, *typing.get_args(hint))
    )


@cache
def _writers(kind: type[Answer]) -> tuple[tuple[str, Callable[[Any], Any] | None], ...] | None:
    """Return the fields of a document, and what writes each; None where it is written as it is.

    None stands for all fields, where all are written as they are: a run may have many calls.
    """
    found = tuple((name, _writer(hint)) for name, hint in answer_fields(kind).items())
    is_plain = len(found) == len(kind.__struct_fields__) and not any(write for _, write in found)
    return None if is_plain else found


def _writer(hint: Any) -> Callable[[Any], Any] | None:  # noqa: ANN401 - a type of any form
    if is_instant(hint):
        return iso
    if hint is Any:  # as it was reported
        return None
    options = typing.get_args(hint) or (hint,)
    return None if all(each in _AS_IT_IS for each in options) else _written


def _written(value: Any) -> Any:  # noqa: ANN401 - of any field
    if isinstance(value, Answer):
        return value.to_document()
    if isinstance(value, tuple):
        return [_written(each) for each in value]
    if isinstance(value, Struct) or is_dataclass(value):
        return to_builtins(value)
    return value.value if isinstance(value, Enum) else value


class Operation(Struct, frozen=True):
    """A question or a change, as the surfaces offer it.

    Attributes:
        call: does it.
        route: the method and the path of HTTP, below /api/v1; None where HTTP does not offer it.
        command: the name of its command; None for none.
        answers: the class of its answer, where the call returns less than that.
        permission: what a caller over HTTP needs.
        status: of HTTP.
        scope: whose data it is about when no project is named: those of the settings' project, or
            those of all projects that the caller may see; "none": it is about no project.
        needs_store: whether the call reads or changes the database.
        sorting: what its list can be sorted by.
        rank: returns what its list is ordered by when no order is asked for, the smallest first;
            None where a list of several projects makes no sense.
        in_pages: whether its list has a limit for people and is answered in pages over HTTP.
        pages_in_order: whether the call's `after` goes on in the order that its `sort` asks for.
        total: counts what such a list holds without a limit, or returns None where that would take
            long; where it is missing, all is read.
        columns: of its table: names of fields, of `cells` or of `drawings`.
        terminal_columns: those that people on a terminal are shown instead.
        about: the column of a list that holds what its entries are about: a name, a task's text;
            it gets the room on a terminal.
        secondary: the columns that a narrow terminal is not shown, the first one first.
        cells: by column, what returns the cell of an answer.
        drawings: columns that only a terminal shows, drawn by its command.
        nothing: what a command says of an empty list; it may hold `{project}`.
        unknown: given what the call is, returns the error for what that names and is not on record,
            where the call itself has an empty answer then; a command says so.
        in_words: returns what a command says of an answer that is no list; where it is missing,
            the answer's fields are printed.
        option_help: the help of an option that the docstring describes for another surface.
        option_names: the names of options that are not those of the arguments; several with a blank
            between them.
        rests_on: what its answer rests on that retention may have removed, which the surfaces then
            say; nothing where all of it is kept.
    """

    call: Callable[..., Any]
    route: str | None
    command: str | None = None
    answers: type[Answer] | None = None
    permission: Literal["read", "write", "admin"] = "read"
    status: int = 200
    scope: Literal["project", "all", "none"] = "project"
    needs_store: bool = True
    sorting: Sorting[Any] | None = None
    rank: Callable[[Any], Any] | None = None
    in_pages: bool = False
    pages_in_order: bool = False
    total: Callable[..., int | None] | None = None
    columns: tuple[str, ...] = ()
    terminal_columns: tuple[str, ...] = ()
    about: str = ""
    secondary: tuple[str, ...] = ()
    cells: Mapping[str, Callable[[Any], object]] = field(default_factory=dict)
    drawings: tuple[str, ...] = ()
    nothing: str = ""
    unknown: Callable[..., TrackrecordError | None] | None = None
    in_words: Callable[[Any], str] | None = None
    option_help: Mapping[str, str] = field(default_factory=dict)
    option_names: Mapping[str, str] = field(default_factory=dict)
    rests_on: tuple[RestsOn, ...] = ()

    @property
    def _returns(self) -> Any:  # noqa: ANN401 - a type of any form
        call = unwrap(self.call)
        holder = type("Holder", (), {"__annotations__": {"it": call.__annotations__["return"]}})
        return typing.get_type_hints(holder, globalns=call.__globals__)["it"]

    @property
    def is_list(self) -> bool:
        """Whether it answers a list."""
        # As a text: what is imported for type checkers alone cannot be looked up.
        return str(unwrap(self.call).__annotations__["return"]).startswith("list[")

    @property
    def answer(self) -> type[Answer]:
        """The class of its answer, or of each entry of its list."""
        if self.answers is not None:
            return self.answers
        returns = self._returns
        found: type[Answer] = typing.get_args(returns)[0] if self.is_list else returns
        return found

    def document_of(self, found: Any) -> dict[str, Any]:  # noqa: ANN401 - what the call returns
        """Return what the call returned, or one entry of it, as a JSON object."""
        if hasattr(found, "to_document"):
            return typing.cast("dict[str, Any]", found.to_document())
        make: Callable[[Any], Answer] = self.answer
        return make(found).to_document()


def _check_columns(operation: Operation) -> None:
    """Refuse a column that an answer does not have, and notes about columns that are not shown.

    Raises:
        TypeError: there is one; its text names it.
    """
    shown = {*operation.columns, *operation.terminal_columns}
    fields = operation.answer.__struct_fields__ if shown else ()
    public = {each for each in fields if not each.startswith("_")}
    known = {*public, *operation.cells, *operation.drawings}
    noted = {*operation.secondary, *operation.cells, *operation.drawings, operation.about} - {""}
    if wrong := (shown - known) | (noted - shown):
        message = f"{operation.call.__qualname__} has no column {', '.join(sorted(wrong))}"
        raise TypeError(message)


def _offering(
    operation_of: Callable[Concatenate[Callable[..., Any], _Notes], Operation],
) -> Callable[Concatenate[Resource, _Notes], Callable[[Callable[_P, _R]], Callable[_P, _R]]]:
    """Return the method of a resource that takes the fields of an operation but for its call."""

    def offers(
        resource: Resource, /, *notes: _Notes.args, **more: _Notes.kwargs
    ) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
        """Note how a call is offered; the call checks its arguments by their types from then on.

        Args:
            resource: whose call it is.
            notes: the fields of `Operation` behind the call, the route first.
            more: the same by name.

        Raises:
            TypeError: a column is misspelt.
        """

        def note(call: Callable[_P, _R]) -> Callable[_P, _R]:
            checked = checking(call)
            operation = operation_of(checked, *notes, **more)
            _check_columns(operation)
            resource.operations.append(operation)
            return checked

        return note

    return offers


def _no_other_ids(_project: str, _ids: list[str]) -> list[str]:
    return []


class Resource(Struct, frozen=True):
    """What is on record of one kind, with all that can be asked about it and done with it.

    Attributes:
        name: of the group of commands, in the plural.
        help: what the group is for.
        other_ids: returns the ids that short ids of those shown must not stand for.
        operations: in the order in which they were declared.
    """

    name: str
    help: str
    other_ids: Callable[[str, list[str]], list[str]] = _no_other_ids
    operations: list[Operation] = field(default_factory=list)

    def sorting(self, command: str) -> Sorting[Any]:
        """Return what the list that a command shows can be sorted by."""
        (found,) = (each.sorting for each in self.operations if each.command == command)
        assert found is not None  # noqa: S101 - it is a list
        return found

    offers = _offering(Operation)
