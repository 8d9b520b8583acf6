"""Checks of arguments, whatever surface they come from: each mistake is one line that names it.

What an argument may be is written in the signature of a call: `Share`, `Text`, an enum. The Python
call, the command line and HTTP read it there, and refuse a value with the same words.
"""

import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from enum import Enum
from functools import cache, wraps
from inspect import signature, unwrap
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, ParamSpec, TypeAlias, TypeVar, Union

from msgspec import Meta, Struct, field

from trackrecord.errors import InvalidRequest
from trackrecord.learning.text.spelling import closest
from trackrecord.learning.text.times import parse_moment

_P = ParamSpec("_P")
_R = TypeVar("_R")
_E = TypeVar("_E", bound=Enum)

_MOST_CHARS: Final = 65_536
MOST: Final = 1_000_000
_SHORTEST_COMMIT: Final = 7
_LONGEST_COMMIT: Final = 64
_HEX: Final = frozenset("0123456789abcdef")


class IdOf(Struct, frozen=True):
    """Marks the id of a thing that is on record, or the beginning of it.

    Attributes:
        thing: what the command line completes it as.
    """

    thing: str


class FromInput(Struct, frozen=True):
    """Marks a text that the command line reads from standard input where it is given as "-".

    Attributes:
        noun: what it is called in a message.
    """

    noun: str


class Among(Struct, frozen=True):
    """Marks a text that is one of several.

    Attributes:
        values: these.
    """

    values: tuple[str, ...]


# A moment: seconds since the epoch, ISO 8601, or a datetime. UTC where no offset is given.
Moment = float | str | datetime
# A member of an enum, or the value of one.
Choice: TypeAlias = Union[_E, str]  # noqa: UP007 - of a type variable
Share = Annotated[float, Meta(ge=0, le=1)]
Text = Annotated[str, Meta(min_length=1, max_length=_MOST_CHARS)]
Name = Annotated[str, Meta(min_length=1, max_length=128)]
Label = Annotated[str, Meta(min_length=1, max_length=256)]
AgentName = Label
PatternName = Annotated[str, Meta(min_length=1, max_length=1024)]
ToolName = PatternName
Few = Annotated[int, Meta(ge=1, le=1000)]
Reason = Annotated[str, Meta(min_length=1, max_length=1000)]
Limit = Annotated[int, Meta(ge=1, le=MOST)]
MemoryId = Annotated[str, Meta(min_length=1, max_length=1024), IdOf("memory")]
PatternId = Annotated[str, Meta(min_length=1, max_length=1024), IdOf("pattern")]
CompetenceId = Annotated[str, Meta(min_length=1, max_length=1024), IdOf("record")]
OutcomeId = Annotated[str, Meta(min_length=1, max_length=1024), IdOf("outcome")]
CommandId = Annotated[str, Meta(min_length=1, max_length=1024), IdOf("command")]
# Of an entry of advice, or of a hint.
LessonId = Annotated[str, Meta(min_length=1, max_length=1024), IdOf("lesson")]


class Argument(Struct, frozen=True):
    """What an argument of a call may be, read from its type.

    Attributes:
        kind: str, int, float, bool or, of a moment, datetime; `object` for what the call checks.
        bounds: the smallest and the largest number, or the lengths of a text; without them any
            value will do.
        choices: the values that it may have; none if it may have any.
        marks: what else the type says: `IdOf`, `FromInput`.
        is_optional: whether None stands for it when it is not given.
        is_many: whether it is any number of values.
    """

    kind: type
    bounds: Meta = field(default_factory=Meta)
    choices: tuple[str, ...] = ()
    marks: tuple[object, ...] = ()
    is_optional: bool = False
    is_many: bool = False

    @classmethod
    def of(cls, hint: Any) -> "Argument":  # noqa: ANN401 - a type of any form
        """Return what an argument of a type may be."""
        options = _options(hint)
        named = [each for each in options if each is not NoneType]
        is_optional = len(named) < len(options)
        enums = [each for each in named if isinstance(each, type) and issubclass(each, Enum)]
        if enums:
            values = tuple(str(each.value) for each in enums[0])
            return cls(str, choices=values, is_optional=is_optional)
        if len(named) != 1:
            kind = datetime if datetime in named else object
            return cls(kind, is_optional=is_optional)
        is_marked = typing.get_origin(named[0]) is Annotated
        kind, *marks = typing.get_args(named[0]) if is_marked else named
        if typing.get_origin(kind) is Literal:
            return cls(str, choices=typing.get_args(kind), is_optional=is_optional)
        known = kind if kind in (str, int, float, bool) else object
        if among := next((each for each in marks if isinstance(each, Among)), None):
            return cls(str, choices=among.values, is_optional=is_optional)
        bounds = next((each for each in marks if isinstance(each, Meta)), Meta())
        is_many = typing.get_origin(kind) in (Iterable, Sequence)
        return cls(known, bounds, (), tuple(marks), is_optional, is_many)

    def mark(self, kind: type[_R]) -> _R | None:
        """Return what the type says in a mark of a kind."""
        return next((each for each in self.marks if isinstance(each, kind)), None)

    def check(self, name: str, value: object) -> None:
        """Check a value.

        Raises:
            InvalidRequest: it is none that the argument may have.
        """
        if value is None and self.is_optional:
            return
        _refuse(name, self.problem_with(value))

    def problem_with(self, value: object) -> str | None:
        """Return what is wrong with a value, as what follows the argument's name in a message."""
        if self.choices:
            return _choice_problem(value, self.choices)
        if self.kind is str and self.bounds.max_length is not None:
            return text_problem(value, self.bounds.max_length)
        if self.kind is bool:
            is_one = isinstance(value, bool)
            return None if is_one else f"must be true or false, not {value!r:.80}"
        least, most = self.bounds.ge, self.bounds.le
        if self.kind in (int, float) and least is not None and most is not None:
            return _number_problem(value, least, most, is_whole=self.kind is int)
        return None

    def from_text(self, text: str) -> Any:  # noqa: ANN401 - of the argument's type
        """Return the value that was written as a text; the text itself where it is none.

        Raises:
            InvalidTime: it is no moment.
        """
        if self.kind is datetime:
            return parse_moment(text)
        if self.kind in (int, float):
            try:
                return self.kind(text)
            except ValueError:
                return text
        return text


# Read when they are first wanted: a command is there at once.
_signature_of: Final = cache(signature)


@cache
def arguments_of(call: Callable[..., Any]) -> Mapping[str, Argument]:
    """Return what each argument of a call may be, by name."""
    inner = unwrap(call)
    names = {**vars(typing), **inner.__globals__}
    hints = {name: each for name, each in inner.__annotations__.items() if name != "return"}
    holder = type("Holder", (), {"__annotations__": hints})
    found = typing.get_type_hints(holder, globalns=names, include_extras=True)
    return {name: Argument.of(hint) for name, hint in found.items()}


def checking(call: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return a call that checks its arguments by their types before it does anything."""

    @wraps(call)
    def checked(*args: _P.args, **named: _P.kwargs) -> _R:
        known = arguments_of(call)
        for name, value in _signature_of(call).bind(*args, **named).arguments.items():
            known[name].check(name, value)
        return call(*args, **named)

    return checked


def _options(hint: Any) -> tuple[Any, ...]:  # noqa: ANN401 - a type of any form
    is_union = typing.get_origin(hint) in (Union, UnionType)
    return typing.get_args(hint) if is_union else (hint,)


def text_problem(value: object, most: int) -> str | None:
    """Return what is wrong with a text, as what follows its name in a message."""
    if not isinstance(value, str):
        return f"must be a string, not {type(value).__name__}"
    if not value.strip() or len(value) > most or not _is_storable(value):
        return f"must be 1 to {most} characters long, not blank and without NUL"
    return None


def _number_problem(value: object, least: float, most: float, *, is_whole: bool) -> str | None:
    kind = int if is_whole else int | float
    if isinstance(value, kind) and not isinstance(value, bool) and least <= value <= most:
        return None
    noun = "a whole number" if is_whole else "a number"
    return f"must be {noun} from {least} to {most}, not {value!r:.80}"


def _choice_problem(value: object, choices: Sequence[str]) -> str | None:
    if isinstance(value, str) and value in choices:
        return None
    nearest = closest(value, choices) if isinstance(value, str) else None
    guess = f"; did you mean {nearest!r}?" if nearest else ""
    return f"must be one of {', '.join(choices)}, not {value!r:.80}{guess}"


def text_of(name: str, value: object, *, most: int = _MOST_CHARS) -> str:
    """Return a text that says something.

    Raises:
        InvalidRequest: it is not a text, is blank or too long, or cannot be stored.
    """
    _refuse(name, text_problem(value, most))
    return typing.cast("str", value)


def optional_text_of(name: str, value: object, *, most: int = _MOST_CHARS) -> str | None:
    """Return a text that says something, or None.

    Raises:
        InvalidRequest: it is neither.
    """
    return None if value is None else text_of(name, value, most=most)


def optional_commit_of(name: str, value: object) -> str | None:
    """Return the SHA of a commit, or the beginning of it, or None.

    Raises:
        InvalidRequest: it is neither.
    """
    if value is None:
        return None
    commit = plain_commit(text_of(name, value))
    _refuse(name, commit_problem(commit))
    return commit


def plain_commit(text: str) -> str:
    """Return the SHA of a commit as it is looked for."""
    return text.strip().lower()


def commit_problem(commit: str) -> str | None:
    """Return what is wrong with the SHA of a commit, as what follows its name in a message."""
    if _SHORTEST_COMMIT <= len(commit) <= _LONGEST_COMMIT and not set(commit) - _HEX:
        return None
    return f"must be a commit of {_SHORTEST_COMMIT} hexadecimal digits or more"


def _refuse(name: str, problem: str | None) -> None:
    if problem is not None:
        message = f"{name} {problem}"
        raise InvalidRequest(message)


def _is_storable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return "\0" not in text


def limit_of(value: object, *, most: int = MOST) -> int:
    """Return how many are wanted at most.

    Raises:
        InvalidRequest: it is not a whole number from 1 on.
    """
    _refuse("limit", _number_problem(value, 1, most, is_whole=True))
    return typing.cast("int", value)


def choice_of(name: str, value: object, choices: Sequence[str]) -> str:
    """Return one of several names.

    Raises:
        InvalidRequest: it is none of them; the message names the one that was probably meant.
    """
    _refuse(name, _choice_problem(value, choices))
    return typing.cast("str", value)


def optional_choice_of(name: str, value: object, choices: Sequence[str]) -> str | None:
    """Return one of several names, or None.

    Raises:
        InvalidRequest: it is neither.
    """
    return None if value is None else choice_of(name, value, choices)


def moment_of(value: Moment | None) -> float | None:
    """Return a past moment in seconds since the epoch, or None for now.

    Raises:
        InvalidRequest: the value is not a moment.
        InvalidTime: it is not between 1970 and 9999.
    """
    if value is None:
        return None
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        message = f"at must be a moment or None, not of type {type(value).__name__}"
        raise InvalidRequest(message)
    return parse_moment(str(value))


def decided_by(by: object, reason: object) -> tuple[str, str | None]:
    """Return who decides, by default this process's user, and the reason; without outer blanks.

    Raises:
        InvalidRequest: one of them is not a text of one line's length.
    """
    actor = user_name() if by is None else text_of("by", by, most=128).strip()
    given_reason = optional_text_of("reason", reason, most=1000)
    if given_reason:
        from trackrecord.learning.text.redaction import redacted

        given_reason = redacted(given_reason.strip())
    return actor, given_reason


def user_name() -> str:
    """Return the name of this process's user."""
    from getpass import getuser

    try:
        return getuser()
    except (KeyError, OSError):  # a container's user without a name
        return "unknown"
