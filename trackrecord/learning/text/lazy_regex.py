"""Regular expressions that a short command need not pay for: compiled when first used."""

import re
from typing import Any, cast


def compile_lazily(expression: str, flags: int = 0) -> re.Pattern[str]:
    """Return what behaves as the compiled expression; a mistake in it shows when it is first used.

    A long expression takes a hundredth of a second to compile, and most commands match nothing.
    """
    return cast("re.Pattern[str]", LazyRegex(expression, flags))


class LazyRegex:
    """A regular expression that is compiled when something of it is first asked for."""

    def __init__(self, expression: str, flags: int) -> None:
        self._given = expression, flags

    def compiled(self) -> re.Pattern[str]:
        """Return the compiled expression."""
        return re.compile(*self._given)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a compiled expression has
        value = getattr(self.compiled(), name)
        setattr(self, name, value)  # the next look finds it at once
        return value
