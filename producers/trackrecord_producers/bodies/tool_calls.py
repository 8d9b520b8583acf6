"""Convert tool calls from the shapes of agents and frameworks to the wire's."""

from collections.abc import Collection, Iterator, KeysView, Mapping, ValuesView
from typing import Any, Final

from trackrecord.wire.outcome import ToolCall

from .remarks import Say, say_unknown

_IN_GRAPH: Final = "a call in tool_graph"
_OF_ATTEMPT: Final = "attempt.tool()"
_KNOWN: Final = frozenset(ToolCall.__struct_fields__)
# Other names of a field, as OpenAI, Anthropic, LangChain and others have them.
_OTHER_NAMES: Final = {
    "name": "tool",
    "tool_name": "tool",
    "function_name": "tool",
    "arguments": "args",
    "input": "args",
    "tool_input": "args",
    "parameters": "args",
    "params": "args",
    "output": "result",
    "response": "result",
    "success": "ok",
    "call_id": "id",
    "tool_call_id": "id",
    "tool_use_id": "id",
}
# The types that frameworks give every call, which mean nothing here.
_KINDS_OF_CALLS: Final = ("function", "tool_use", "tool_call")


def tool_calls(given: object, say: Say) -> object:
    """Return the calls with the wire's names of fields; anything else as it is.

    Args:
        given: the value of `tool_graph`.
        say: takes the kind of a remark and its text.
    """
    if given.__class__ is list and all(
        call.__class__ is dict and _KNOWN.issuperset(call) for call in given
    ):
        return given
    if isinstance(given, (str, Mapping)):
        given = [given]
    if isinstance(given, (list, tuple, Iterator, KeysView, ValuesView)):
        return [_call(call, say) for call in given]
    return given


def renamed_arguments(given: dict[str, Any], known: Collection[str], say: Say) -> dict[str, Any]:
    """Return arguments of `attempt.tool` by the names that it knows; others are reported and lost.

    Args:
        given: the arguments that it has no parameter for.
        known: the names of its parameters.
        say: takes the kind of a remark and its text.
    """
    arguments = dict(given)
    _rename(arguments, say, _OF_ATTEMPT)
    say_unknown(_OF_ATTEMPT, arguments.keys() - known, known, say)
    return arguments


def _call(given: object, say: Say) -> object:
    if isinstance(given, str):
        return {"tool": given}
    if not isinstance(given, Mapping) or _KNOWN.issuperset(given):
        return given
    call = _flat(dict(given))
    _rename(call, say)
    say_unknown(_IN_GRAPH, call.keys() - _KNOWN, _KNOWN, say)
    return call


def _flat(call: dict[Any, Any]) -> dict[Any, Any]:
    """Return a call without the wrapper around the name and arguments of an OpenAI call."""
    function = call.get("function")
    if isinstance(function, Mapping) and "tool" not in call:
        del call["function"]
        call = {**function, **call}
    elif isinstance(function, str) and "tool" not in call:
        call["tool"] = call.pop("function")
    if call.get("type") in _KINDS_OF_CALLS:
        del call["type"]
    return call


def _rename(call: dict[Any, Any], say: Say, where: str = _IN_GRAPH) -> None:
    """Rename fields to their own names, if only one of another name is present."""
    for field in dict.fromkeys(_OTHER_NAMES.values()):
        others = [name for name, meant in _OTHER_NAMES.items() if meant == field and name in call]
        if len(others) == 1 and field not in call:
            call[field] = call.pop(others[0])
            say(
                f"renamed {others[0]}",
                f"{where} has no field {others[0]!r}: it was taken as {field!r}",
            )
