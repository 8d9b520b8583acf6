"""The pages, each a function of its request; imported on their first use."""

from importlib import import_module
from typing import Any


def function_named(name: str) -> Any:  # noqa: ANN401 - a view, or an action
    """Return the function of a view or an action, by its name in the table."""
    module, _, function = name.partition(".")
    return getattr(import_module(f".{module}", __name__), function)
