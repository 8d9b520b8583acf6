"""Failures of calls: which ones count, and the text of their errors without what differs.

An error template is the text of an error without what differs from one occurrence to the next.
"""

import re
from functools import lru_cache
from typing import Final

# Long errors keep their end: the name of an exception stands there.
_LONGEST_ERROR: Final = 4000
LONGEST_TEMPLATE: Final = 200
_GAP: Final = "… "

_TIME: Final = r"\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"
_PATH: Final = r"(?:[\\/~.]{0,3}[\w.@+-]{1,255})?(?:[\\/][\w.@+-]{1,255}){1,64}[\\/]?"
# In this order: a time holds numbers, a path may hold a hash.
_VARIABLE: Final = tuple(
    (re.compile(expression), placeholder)
    for expression, placeholder in (
        (r"\x1b\[[0-9;]*m", ""),
        # The lines that tools draw around what they say.
        (r"([=!_*#~+-])\1{3,}", " "),
        (rf"\b\d{{4}}-\d\d-\d\d(?:[T ]{_TIME})?", "<time>"),
        (rf"\b{_TIME}", "<time>"),
        (r"\b[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s\"'<>)\]]+", "<url>"),
        (r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+", "<mail>"),
        (rf"(?<![\w/.])(?:[A-Za-z]:)?{_PATH}", "<path>"),
        (r"\"[^\"\n]{1,500}\"|(?<!\w)'[^'\n]{1,500}'(?!\w)|`[^`\n]{1,500}`", "<text>"),
        # Hashes and UUIDs.
        (r"\b(?=[0-9a-fA-F-]{0,63}\d)[0-9a-fA-F]{7,64}(?:-[0-9a-fA-F]{2,32}){0,8}\b", "<id>"),
        # A word with digits in it: an identifier more often than not.
        (r"\b(?=\w{0,63}[A-Za-z_])(?=\w{0,63}\d)\w{2,64}\b", "<id>"),
        (r"[-+]?\b\d[\d.,]*\b%?", "<n>"),
    )
)
_REPEATED: Final = re.compile(r"(<\w+>)(?:[\s,;]*\1)+")
_SPACE: Final = re.compile(r"\s+")

# "reproducible" is another thing.
_REPRODUCTION: Final = r"(?<![^\W_])(?:repro(?![a-z])|reproduc(?!ib)|复现)"
_REPRODUCTION_NAME: Final = re.compile(_REPRODUCTION, re.IGNORECASE)
_RUNS_REPRODUCTION: Final = re.compile(
    r"(?:(?<![\w./-])(?:python[\d.]*|pytest|node|deno|bun|tsx|ts-node|npx|go|cargo|java|ruby|rspec"
    rf"|php|perl|bash|sh|zsh|make|dotnet|julia|Rscript|lua|mix)\s[^;&|\"]{{0,120}}?|\./){_REPRODUCTION}",
    re.IGNORECASE,
)
_LONGEST_COMMAND: Final = 4000


def is_wanted_failure(tool: str, arguments: str) -> bool:
    """Return whether a call that failed was meant to fail: it ran a script that reproduces a bug.

    Such a call has a tool, or runs a script, whose name begins with "repro" or "reproduce". A call
    that only writes, reads or edits such a script is a call like any other.

    Args:
        tool: the tool's name.
        arguments: the arguments, as JSON or as text.
    """
    return bool(
        _REPRODUCTION_NAME.search(tool[:_LONGEST_COMMAND])
        or _RUNS_REPRODUCTION.search(arguments[:_LONGEST_COMMAND])
    )


def error_template(text: str) -> str:
    """Return an error's text with its variable parts replaced by placeholders.

    Numbers, quoted texts, paths, addresses, ids, hashes and times become `<n>`, `<text>`, `<path>`,
    `<url>`, `<mail>`, `<id>` and `<time>`. A long text keeps its end.
    """
    return _template(text[-_LONGEST_ERROR:])


# The same few errors come again and again; no more than 4 MB of them are remembered.
@lru_cache(maxsize=1024)
def _template(text: str) -> str:
    for pattern, placeholder in _VARIABLE:
        text = pattern.sub(placeholder, text)
    text = _REPEATED.sub(r"\1", _SPACE.sub(" ", text)).strip()
    if len(text) > LONGEST_TEMPLATE:
        text = _GAP + text[-(LONGEST_TEMPLATE - len(_GAP)) :]
    return text
