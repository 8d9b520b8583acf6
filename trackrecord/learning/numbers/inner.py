"""Marks the numbers of rules that are no settings: code chooses them, and a user cannot."""

from typing import Annotated, Final, TypeVar

_T = TypeVar("_T")

INNER: Final = "inner"
Inner = Annotated[_T, INNER]
