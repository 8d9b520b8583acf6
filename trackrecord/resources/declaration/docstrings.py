"""Docstrings in Google's style, taken apart: what is documented is written once."""

import inspect
import re
from typing import Final, NamedTuple

_SECTION: Final = re.compile(r"^(Args|Attributes|Returns|Raises):$")
_ENTRY: Final = re.compile(r"^    (\w+): (.*)$")


class Docstring(NamedTuple):
    """A docstring's parts.

    Attributes:
        summary: its first line.
        text: the paragraphs up to the first section.
        names: by name, what it says of arguments or attributes.
    """

    summary: str
    text: str
    names: dict[str, str]


def read_docstring(documented: object) -> Docstring:
    """Return the parts of an object's docstring."""
    lines = inspect.cleandoc(getattr(documented, "__doc__", None) or "").splitlines()
    text: list[str] = []
    names: dict[str, str] = {}
    section, name = "", ""
    for line in lines:
        if found := _SECTION.match(line):
            section = found[1]
        elif section in ("Args", "Attributes"):
            if entry := _ENTRY.match(line):
                name = entry[1]
                names[name] = _sentence(entry[2])
            elif name and line.startswith("        "):
                names[name] += f" {line.strip()}"
        elif not section:
            text.append(line)
    paragraphs = "\n".join(text).strip()
    summary, _, rest = paragraphs.partition("\n")
    return Docstring(summary, rest.strip(), names)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
