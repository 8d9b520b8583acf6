"""What a resource declares once is offered by Python, HTTP and the command line."""

import inspect
import json
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from msgspec import UNSET, UnsetType

import trackrecord
from trackrecord.errors import InvalidRequest
from trackrecord.resources.declaration.checks import (
    Choice,
    Limit,
    MemoryId,
    Moment,
    Name,
    Reason,
    Share,
)
from trackrecord.resources.declaration.paging import sorting_of
from trackrecord.resources.declaration.resource import Answer, Instant, Resource
from trackrecord.resources.reports.errors_in_flight import ERRORS
from trackrecord_cli.resource_commands import group_of
from trackrecord_door.api.endpoint import endpoints_of
from trackrecord_door.api.endpoint_table import RESOURCES
from trackrecord_door.api.openapi import shape_of


class Colour(StrEnum):
    """The colours of kites."""

    RED = "red"
    BLUE = "blue"


class Tail(Answer, frozen=True):
    """A part of an answer.

    Attributes:
        length: of the tail.
    """

    length: float


class Kite(Answer, frozen=True):
    """A kite.

    Attributes:
        id: its name.
        colour: what it looks like.
        height: how high it flies.
        flown_at: when it flew last.
        line: what holds it.
        wind: how it blows, where that is known.
        tails: what hangs on it.
    """

    id: str
    colour: Colour
    height: float | None
    flown_at: Instant | None
    line: Tail = Tail(9.0)
    wind: float | UnsetType = UNSET
    tails: tuple[Tail, ...] = ()
    _secret: int = 0


KITES = Resource("kites", "Fly kites.")
FOUND = [
    Kite("k1", Colour.RED, 0.5, 0.0, tails=(Tail(2.0),)),
    Kite("k2", Colour.BLUE, 0.9, None),
    Kite("k3", Colour.RED, None, None, wind=0.25),
]


@KITES.offers(
    "GET /kites",
    command="list",
    sorting=sorting_of("kites", "id", id="id", height="height"),
    in_pages=True,
    columns=("id", "colour", "height"),
    nothing="no kite in {project!r}",
)
def list_kites(
    *,
    colour: Choice[Colour] | None = None,
    min_height: Share | None = None,
    limit: Limit | None = None,
    at: Moment | None = None,
    project: str | None = None,
) -> list[Kite]:
    """List the kites.

    Args:
        colour: only kites of this colour.
        min_height: only kites at this height or higher.
        limit: the maximum number of kites.
        at: a past moment.
        project: whose kites.
    """
    del at, project
    found = [each for each in FOUND if colour is None or each.colour == colour]
    return [each for each in found if (each.height or 0.0) >= (min_height or 0.0)][:limit]


@KITES.offers("POST /kites/{kite_id}/ground", command="ground", permission="admin")
def ground_kite(
    kite_id: MemoryId, *, reason: Reason, by: Name | None = None, project: str | None = None
) -> Kite:
    """Let a kite fly no more.

    Args:
        kite_id: which one.
        reason: why.
        by: who decides.
        project: whose kite.
    """
    del reason, by, project
    return next(each for each in FOUND if each.id == kite_id)


@pytest.fixture
def kites(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs commands of `kites`."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    group = group_of(KITES)
    return lambda *arguments: CliRunner().invoke(group, arguments)


@pytest.fixture
def command(kites: Callable[..., Result]) -> Callable[..., Result]:
    """Runs `kites list`."""
    return lambda *arguments: kites("list", *arguments)


def test_a_field_is_in_the_document_the_shape_and_the_table(command):
    """Moments as ISO 8601, members of enums as their values; what is private or unset nowhere."""
    operation = KITES.operations[0]
    document = operation.document_of(list_kites(limit=1)[0])
    assert document == {
        "id": "k1", "colour": "red", "height": 0.5, "flown_at": "1970-01-01T00:00:00.000Z",
        "line": {"length": 9.0}, "tails": [{"length": 2.0}],
    }  # fmt: skip
    shape = shape_of(operation.answer)
    assert [each for each in shape.__struct_fields__ if each != "wind"] == [*document]
    assert msgspec.convert(document, shape)
    assert msgspec.convert(operation.document_of(FOUND[2]), shape).wind == 0.25
    schema = msgspec.json.schema(shape)["$defs"]
    assert schema["Colour"]["enum"] == ["blue", "red"]
    assert schema["Kite"]["properties"]["height"]["description"] == "How high it flies."
    assert {*schema["Kite"]["properties"]} - {*schema["Kite"]["required"]} == {"wind"}
    assert schema["Tail"]["properties"]["length"]["description"] == "Of the tail."
    assert json.loads(command("--json", "--limit", "1").output) == [document]
    assert command().output.splitlines()[:2] == ["id\tcolour\theight", "k1\tred\t0.50"]


@pytest.mark.parametrize(
    ("notes", "wrong"),
    [
        ({"columns": ("id", "color")}, "color"),
        ({"columns": ("id",), "terminal_columns": ("heihgt",)}, "heihgt"),
        ({"columns": ("id", "_secret")}, "_secret"),
        ({"columns": ("id",), "secondary": ("height",)}, "height"),
        ({"columns": ("id",), "about": "colour"}, "colour"),
        ({"columns": ("id",), "cells": {"di": repr}}, "di"),
        ({"columns": ("id",), "drawings": ("trend",)}, "trend"),
        ({"column": ("id",)}, "column"),
    ],
)
def test_a_misspelt_column_is_refused_where_it_is_declared(notes, wrong):
    """Not when somebody looks at the table for the first time."""
    kites = Resource("kites", "Fly kites.")
    with pytest.raises(TypeError, match=rf"\b{wrong}\b"):
        kites.offers(None, **notes)(list_kites)


def test_a_filter_and_an_order_are_offered_on_each_surface(command):
    """With the same values, bounds and words."""
    endpoint = endpoints_of(KITES)[0]
    assert {*endpoint.parameters} == {"colour", "min_height", "at"}
    assert endpoint.parameters["min_height"].description == "Only kites at this height or higher."
    help_text = command("--help").output
    assert "--colour [red|blue]" in help_text
    assert "Show only kites at this height or higher." in " ".join(help_text.split())
    shown = json.loads(command("--colour", "red", "--sort", "-height", "--json").output)
    assert [each["id"] for each in shown] == ["k1", "k3"]
    assert [each.id for each in list_kites(colour="red", min_height=0.1)] == ["k1"]


def test_a_decision_asks_for_its_reason_and_shows_what_it_is_about(kites):
    """The options that name who decides, and why, say so on each command."""
    help_text = " ".join(kites("ground", "--help").output.split())
    assert "Give the reason; the history keeps it. [required]" in help_text
    assert "Name the person who decides. [default: the user's name]" in help_text
    ran = kites("ground", "k1")
    assert (ran.exit_code, "Missing option '--reason'" in ran.output) == (2, True)
    ran = kites("ground", "k1", "--reason", "rain")
    assert ran.output.splitlines()[:4] == ["field\tvalue", "id\tk1", "colour\tred", "height\t0.50"]
    assert json.loads(kites("ground", "k3", "--reason", "rain", "--json").output)["wind"] == 0.25


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"min_height": 2.0}, "must be a number from 0 to 1, not 2.0"),
        ({"min_height": "high"}, "must be a number from 0 to 1, not 'high'"),
        ({"colour": "bleu"}, "did you mean 'blue'?"),
    ],
)
def test_a_wrong_value_is_refused_in_the_same_words(command, given, words):
    """By the call and by the command; HTTP's are tested where it is asked."""
    ((name, value),) = given.items()
    with pytest.raises(InvalidRequest) as raised:
        list_kites(**given)
    assert str(raised.value).startswith(f"{name} must be")
    assert str(raised.value).endswith(words)
    ran = command(f"--{name.replace('_', '-')}", str(value))
    assert ran.exit_code == 2
    assert words in " ".join(ran.output.split())


def test_each_command_of_a_resource_is_a_call_with_a_form_for_event_loops():
    """Under the call's name, with its arguments; what only one surface offers is no public name.

    The Python calls about errors in flight are the producers': they never raise.
    """
    for resource in [each for each in RESOURCES if each is not ERRORS]:
        for operation in resource.operations:
            name = operation.call.__name__
            is_offered_once = operation.command is None or operation.route is None
            if is_offered_once and name not in trackrecord.__all__:
                continue
            # One whose answer may lack what retention has removed warns of that.
            call = getattr(trackrecord, name)
            assert operation.call in (call, vars(call).get("__wrapped__"))
            awaited = getattr(trackrecord, f"a{name}")
            assert inspect.iscoroutinefunction(awaited)
            assert inspect.signature(awaited) == inspect.signature(operation.call)
