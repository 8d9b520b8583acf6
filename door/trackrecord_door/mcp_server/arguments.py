"""Arguments and results of the tools: one definition for check, schema and type.

What a tool returns says all that its text says: Claude Code and Codex hand models the structure
alone, other clients the text.

Values of another type are coerced where only one reading is possible: models write "800" for 800.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from trackrecord.errors import InvalidRequest

_LONGEST_TASK: Final = 32_768
_LONGEST_ID: Final = 256
_LONGEST_TEXT: Final = 20_000
_LONGEST_DETAILS: Final = 4_000
_MOST_MEMORIES: Final = 100
USUAL_TOKENS: Final = 800

# What repeats the name of a structure, and what is for readers of this code.
_REPEATING: Final = frozenset({"title", "description"})

_Arguments = TypeVar("_Arguments", bound=Struct)

Id = Annotated[str, Meta(min_length=1, max_length=_LONGEST_ID)]


class RecallArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `recall`."""

    task: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=_LONGEST_TASK,
            description="The task at hand, in the words of the person who asked.",
        ),
    ]
    budget: Annotated[
        int, Meta(ge=50, le=8_000, description="How many tokens the text may take at most.")
    ] = USUAL_TOKENS
    failed_command: Annotated[
        str,
        Meta(
            max_length=_LONGEST_DETAILS,
            description="A command line that has just failed; say with it what `error` was.",
        ),
    ] = ""
    error: Annotated[
        str, Meta(max_length=_LONGEST_TEXT, description="The output of the failed command.")
    ] = ""


class ReportedRecallArguments(
    RecallArguments, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """The arguments of `recall` where the task's outcome can be reported, too."""

    task_id: Annotated[
        str,
        Meta(
            max_length=_LONGEST_ID,
            description="The id of the task if it has one already; otherwise it is given one.",
        ),
    ] = ""


class RememberArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `remember`."""

    text: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=_LONGEST_TEXT,
            description="One or two sentences that make sense on their own.",
        ),
    ]


class OutcomeArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `report_outcome`."""

    success: Annotated[bool, Meta(description="Whether the task reached its goal.")]
    task_id: Annotated[Id, Meta(description="The task_id that recall returned.")]
    task: Annotated[
        str,
        Meta(max_length=_LONGEST_TASK, description="The task, in the words in which it was asked."),
    ] = ""
    outcome_source: Annotated[
        Literal["explicit", "tests"],
        Meta(description="How the success is known: tests (a check ran), explicit (you say so)."),
    ] = "explicit"
    strategy: Annotated[
        str,
        Meta(max_length=_LONGEST_ID, description="The approach in a few words, for later tasks."),
    ] = ""
    failure_details: Annotated[
        str, Meta(max_length=_LONGEST_DETAILS, description="What went wrong, if it failed.")
    ] = ""
    memory_ids: Annotated[
        list[Id],
        Meta(max_length=_MOST_MEMORIES, description="The ids of recalled memories that you used."),
    ] = []


class Entry(Struct, frozen=True, kw_only=True):
    """One entry behind the text."""

    section: str
    id: str
    label: str
    score: float


class Recalled(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of `recall`."""

    project: str
    context: str
    tokens: int
    entries: list[Entry]
    task_id: str | None = None
    problem: str | None = None


class Remembered(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of `remember`."""

    project: str
    memory_id: str
    problem: str | None = None


class Reported(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of `report_outcome`."""

    project: str
    outcome_id: str
    task_id: str
    problem: str | None = None


def read_arguments(given: Mapping[str, object] | None, kind: type[_Arguments]) -> _Arguments:
    """Return the arguments of a call; null counts as a missing argument.

    Raises:
        InvalidRequest: they are not what the tool takes; the message is one line.
    """
    try:
        wanted = {name: value for name, value in (given or {}).items() if value is not None}
        return msgspec.convert(wanted, kind, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidRequest(str(error)) from None


def schema_of(kind: type[Struct]) -> dict[str, Any]:
    """Return the JSON Schema of a structure, without parts that a model need not read."""
    _, components = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    schema = _terse(components.pop(kind.__name__))
    if components:
        schema["$defs"] = {name: _terse(each) for name, each in components.items()}
    return schema


def _terse(schema: dict[str, Any]) -> dict[str, Any]:
    terse = {name: value for name, value in schema.items() if name not in _REPEATING}
    for each in terse.get("properties", {}).values():
        if each.get("default", None) in ("", []):
            del each["default"]
    return terse
