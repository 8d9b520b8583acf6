"""Our lines in another program's TOML: one block at the top, where top-level keys belong.

Comments, order and layout of the rest keep their characters.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from .draft import Draft, DraftRefused, without_bom
from .json_text import Edit

BEGIN: Final = "# >>> trackrecord: `trackrecord uninstall` removes these lines"
END: Final = "# <<< trackrecord"
# What editors look for on the first line.
_DIRECTIVE: Final = re.compile(r"#:[^\n]*\n")


def document(draft: Draft) -> Mapping[str, Any]:
    """Return the parsed document of a file.

    Raises:
        DraftRefused: it is not valid TOML.
    """
    try:
        return tomllib.loads(without_bom(draft.text or "")[1])
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        message = f"{draft.path} is not valid TOML ({error}): left alone"
        raise DraftRefused(message) from None


def add_lines(draft: Draft, lines: Sequence[str]) -> None:
    """Put lines at the top, between two marks.

    Raises:
        DraftRefused: the file would not be valid with them.
    """
    text = draft.text or ""
    newline = "\r\n" if "\r\n" in text else "\n"
    bom, rest = without_bom(text)
    found = _DIRECTIVE.match(rest)
    at = len(bom) + (found.end() if found else 0)
    block = "".join(line + newline for line in (BEGIN, *lines, END))
    draft.apply([Edit(at, at, block)])
    document(draft)


def remove_lines(draft: Draft, is_ours: re.Pattern[str]) -> None:
    """Remove the marks and our lines, even if they were moved.

    Raises:
        DraftRefused: the file is not valid TOML, before or afterwards.
    """
    if draft.text is None:
        return
    document(draft)
    edits, at = [], 0
    for line in draft.text.splitlines(keepends=True):
        if line.strip() in (BEGIN, END) or is_ours.fullmatch(line.strip()):
            edits.append(Edit(at, at + len(line), ""))
        at += len(line)
    draft.had_ours = draft.had_ours or bool(edits)
    draft.apply(edits)
    document(draft)
