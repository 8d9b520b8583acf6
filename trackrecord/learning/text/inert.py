"""Agents' texts are data: they are made harmless before they stand in a prompt.

One line of data stays one line, opens no Markdown block of its own, carries nothing invisible and
has a bounded length.
"""

import re

ELLIPSIS = "…"
DEFAULT_LIMIT = 200

# Line ends and controls part words; so do "letters" that have no shape (fillers, blank braille).
_PARTING = re.compile(
    r"[\s\x00-\x1f\x7f-\x9f\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
    r"\u115f\u1160\u2800\u3164\uffa0]+"
)
# Zero-width characters, bidirectional controls, variation selectors, tags, lone surrogates.
_INVISIBLE = re.compile(
    r"[\u00ad\u034f\u061c\u17b4\u17b5\u180b-\u180d\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\ufe00-\ufe0f\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
_FENCE = re.compile(r"`{3,}")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
# Openings of a block at the start of a line: heading, list item, quote, table, rule, fence.
# A label in brackets that only we may write, wherever it stands: "[confidence 1.0]", "[PROVEN ...".
_LABEL = re.compile(
    r"[\[［【〔](\s*(?:proven|established|candidate|deprecated|limited\s+data|confidence|succeeded"
    r"|failed|contested|worked\s+[0-9]|[0-9]+\s+of\s+[0-9]"
    r"|已验证|已确立|候选|已弃用|数据有限|置信度|成功|失败|有争议|[0-9]+个任务)"
    r"[^\[\]［］【】〔〕]*+)([\]］】〕]?)",
    re.IGNORECASE,
)
# Any other group in brackets at the very end, where our own labels stand.
_GROUP_AT_END = re.compile(r"(?:(?<=\s)|\A)[\[［【〔]([^\]］】〕]*+)([\]］】〕]?)\Z")
_OPENERS = re.compile(
    r"(?:(?:\#{1,6}|[-*+]|[0-9]{1,9}[.)]|(?:[-=_*]\ ?){3,})(?:\ |$)|[>|]\ ?|~{3,}\ ?)++",
    re.VERBOSE,
)


def visible(text: str) -> str:
    """Return a name in which what is not printable is written out, with a backslash."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )


def one_line(text: str, limit: int = DEFAULT_LIMIT) -> str:
    """Return the text on one line, inert, and at most `limit` (≥ 1) characters long.

    Controls and line ends become spaces, invisible characters vanish, fences of backticks become
    apostrophes, the opening bracket of a tag becomes ‹, and anything that would open a Markdown
    block at the start is removed. A text that is cut ends in an ellipsis. A second call changes
    nothing.
    """
    flat = _PARTING.sub(" ", _INVISIBLE.sub("", text)).strip(" ")
    flat = _FENCE.sub(lambda fence: "'" * len(fence.group()), flat)
    flat = _TAG.sub("‹", flat)
    opened = _OPENERS.match(flat)
    if opened is not None:
        flat = flat[opened.end() :]
    return bounded(flat.strip(" "), limit)


def unlabelled(text: str) -> str:
    """Return the text with nothing in it that reads as a label of ours.

    A line for a prompt ends in a label such as "[confidence 0.7]" or "[7 of 7 tasks succeeded]". An
    agent that writes one itself gets a round bracket instead of the square one.

    Args:
        text: a text of one line, as `one_line` returns it.
    """
    # A group may stand in front of another one; the text is short, and each pass takes one away.
    while (freed := _without_label(text)) != text:
        text = freed
    return text


def _without_label(text: str) -> str:
    return _GROUP_AT_END.sub(_in_round_brackets, _LABEL.sub(_in_round_brackets, text))


def _in_round_brackets(group: re.Match[str]) -> str:
    return f"({group[1]}{')' if group[2] else ''}"


def bounded(text: str, limit: int) -> str:
    """Return the text cut to at most `limit` (≥ 1) characters; an ellipsis marks a cut."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + ELLIPSIS
