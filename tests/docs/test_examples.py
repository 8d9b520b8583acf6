"""What the pages tell people to type can be typed."""

import ast
import inspect
import re
import shlex

import click
import pytest

import trackrecord
from tests.docs.documentation import PAGE_NAMES, Block, blocks, prose_of
from trackrecord.wire.outcome import Outcome
from trackrecord_cli.main import cli

PYTHON = list(blocks("python", "py"))


def _command_lines() -> list[tuple[Block, list[str]]]:
    """The words of each `trackrecord …` in the shell examples."""
    found = []
    for block in blocks("sh", "bash", "console"):
        text = block.text.replace("\\\n", " ")
        for line in text.splitlines():
            words = shlex.split(line, comments=True)
            for start, word in enumerate(words):
                if word == "trackrecord" and _begins_a_command(words, start):
                    found.append((block, _up_to_operator(words[start + 1 :])))
    return found


def _begins_a_command(words: list[str], start: int) -> bool:
    before = words[:start]
    return all(re.match(r"\w+=", word) for word in before) or before[-1] in ("|", "&&", "worker")


def _up_to_operator(words: list[str]) -> list[str]:
    ends = [place for place, word in enumerate(words) if word in ("|", "&&", ";", ">", "<")]
    return words[: ends[0]] if ends else words


def _in_prose() -> list[tuple[str, list[str]]]:
    """The words of each `trackrecord …` in code font; the changelog also names what has gone."""
    return [
        (name, shlex.split(line)[1:])
        for name in PAGE_NAMES
        for line in re.findall(r"`(trackrecord [^`]+)`", " ".join(prose_of(name).split()))
        if "COMMAND" not in line and name != "CHANGELOG.md"
    ]


COMMAND_LINES = _command_lines()
IN_PROSE = _in_prose()


def test_there_are_examples():
    """The searches above find something to check."""
    assert len(COMMAND_LINES) >= 10
    assert len(IN_PROSE) >= 10
    assert PYTHON


@pytest.mark.parametrize(
    ("block", "words"), COMMAND_LINES, ids=[f"{b}-{' '.join(w)}" for b, w in COMMAND_LINES]
)
def test_command_lines_are_understood(block, words):
    """The parser takes each of them; nothing is run."""
    _parse(cli, "trackrecord", words)


@pytest.mark.parametrize(
    ("page", "words"), IN_PROSE, ids=[f"{p}-{' '.join(w)}" for p, w in IN_PROSE]
)
def test_commands_in_prose_are_understood(page, words):
    """So are the commands that a sentence names."""
    _parse(cli, "trackrecord", words)


def _parse(
    command: click.Command, name: str, words: list[str], parent: click.Context | None = None
) -> None:
    ctx = click.Context(command, info_name=name, parent=parent)
    if isinstance(command, click.Group) and words and not words[0].startswith("-"):
        child = command.get_command(ctx, words[0])
        assert child is not None, f"there is no command {words[0]!r}"
        _parse(child, words[0], words[1:], ctx)
        return
    given, left, _ = command.make_parser(ctx).parse_args(list(words))
    assert not left, f"too much: {left}"
    for parameter in command.params:
        value = given.get(parameter.name)
        if isinstance(parameter.type, (click.File, click.Path)):
            assert value or not parameter.required, f"{parameter.name} is missing"
        elif isinstance(value, str):
            parameter.type_cast_value(ctx, value)


@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_python_examples_use_what_there_is(block):
    """Names of trackrecord exist, and take the arguments that they are given."""
    for node in ast.walk(ast.parse(block.text)):
        if _is_ours(node):
            assert hasattr(trackrecord, node.attr), f"there is no trackrecord.{node.attr}"
        if isinstance(node, ast.Call) and _is_ours(node.func):
            _check_arguments(node, node.func.attr)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("trackrecord"):
            module = __import__(node.module, fromlist=["_"])
            for name in node.names:
                assert hasattr(module, name.name)


def _is_ours(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "trackrecord"
    )


def _check_arguments(call: ast.Call, name: str) -> None:
    parameters = inspect.signature(getattr(trackrecord, name)).parameters
    takes_fields = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    allowed = set(parameters) | (set(Outcome.__struct_fields__) if takes_fields else set())
    given = {keyword.arg for keyword in call.keywords if keyword.arg}
    assert given <= allowed, f"trackrecord.{name} does not take {given - allowed}"
