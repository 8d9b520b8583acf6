"""Excerpts of long texts: a run keeps a bounded part of a tool's result."""

from typing import Any, Final

LONGEST_RESULT: Final = 4096
LONGEST_COMMAND: Final = 16_384
_LONGEST_VALUE: Final = 4096
_DEEPEST: Final = 8
_MOST_ITEMS: Final = 200
_LONGEST_NAME: Final = 128
_MCP: Final = "mcp__"
_GAP: Final = "\n[...]\n"


def excerpt(text: str, longest: int = LONGEST_RESULT) -> str:
    """Return a text, or its beginning and its end if it is longer than allowed.

    The end is longer: that is where tools say how it went.
    """
    if len(text) <= longest:
        return text
    end = (longest - len(_GAP)) * 3 // 4
    return f"{text[: longest - len(_GAP) - end]}{_GAP}{text[-end:]}"


def excerpts_in(value: Any, depth: int = 0) -> Any:  # noqa: ANN401 - decoded JSON of any kind
    """Return decoded JSON with its long texts shortened, and cut off where it is deep or long."""
    if isinstance(value, str):
        return excerpt(value, _LONGEST_VALUE)
    if isinstance(value, dict):
        if depth == _DEEPEST:
            return {}
        items = list(value.items())[:_MOST_ITEMS]
        return {excerpt(str(name), 256): excerpts_in(each, depth + 1) for name, each in items}
    if isinstance(value, list):
        return [] if depth == _DEEPEST else [excerpts_in(v, depth + 1) for v in value[:_MOST_ITEMS]]
    return value


def tool_name(name: str) -> str:
    """Return a tool's name; of a tool of an MCP server "server:tool"."""
    if name.startswith(_MCP):
        server, _, tool = name.removeprefix(_MCP).partition("__")
        name = f"{server}:{tool}"
    return excerpt(name, _LONGEST_NAME) or "tool"
