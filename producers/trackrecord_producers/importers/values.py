"""Values of recordings as every store can hold them."""

import json
from typing import Any


def clean(value: object) -> Any:  # noqa: ANN401 - of the kind that was given
    """Return a value without lone surrogates and NUL characters, which no store can hold."""
    if isinstance(value, str):
        text = value.encode("utf-8", "replace").decode()
        return text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    if isinstance(value, list):
        return [clean(each) for each in value]
    if isinstance(value, dict):
        return {clean(name): clean(each) for name, each in value.items()}
    return value


def arguments_in(arguments: object) -> object:
    """Return the arguments of a call decoded from JSON; a text that is not JSON stays a text."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return clean(arguments)
    return clean(arguments)
