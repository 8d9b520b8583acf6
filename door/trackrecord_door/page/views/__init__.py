"""The pages, each a function of its request; imported on their first use."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from ..answering import ConfirmedAction, PageView
from ..forms import Form
from ..page_request import PageRequest

ViewFunction = Callable[[PageRequest], PageView]
ActionFunction = Callable[[PageRequest, Form], ConfirmedAction]


def view_named(name: str) -> ViewFunction:
    """Return the function of a view by its name in the table."""
    return cast("ViewFunction", _function(name))


def action_named(name: str) -> ActionFunction:
    """Return the function of an action by its name in the table."""
    return cast("ActionFunction", _function(name))


def _function(name: str) -> object:
    module, _, function = name.partition(".")
    return getattr(import_module(f".{module}", __name__), function)
