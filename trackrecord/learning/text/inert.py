"""Make agents' texts harmless before they are put in a prompt: they are data.

One line of data stays one line, opens no Markdown block and no turn of a chat of its own, carries
nothing invisible and has a bounded length. What agents wrote stands in quotation marks, and a name
has the form of a name.
"""

import re
from typing import Final

from .lazy_regex import compile_lazily
from .width import one_form

ELLIPSIS = "…"
DEFAULT_LIMIT = 200

# Line ends and controls part words; so do "letters" that have no shape (fillers, blank braille).
_PARTING = compile_lazily(
    r"[\s\x00-\x1f\x7f-\x9f\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
    r"\u115f\u1160\u2800\u3164\uffa0]+"
)
# Zero-width characters, bidirectional controls, variation selectors, tags, lone surrogates.
_INVISIBLE = compile_lazily(
    r"[\u00ad\u034f\u061c\u17b4\u17b5\u180b-\u180d\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\ufe00-\ufe0f\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
# What a terminal obeys: sequences that begin with an escape, with all that they carry.
_ESCAPES = compile_lazily(
    r"(?:\x1b\[|\x9b)[0-?]{0,32}[ -/]{0,8}[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]{0,2000}(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]{0,8}[0-~]"
)
_FENCE = compile_lazily(r"`{3,}")
_TAG = compile_lazily(r"<(?=[A-Za-z/!?|]|<[A-Za-z/])")
_TAG_END = compile_lazily(r"\|>")
# How templates of chats mark a turn: "[INST]", and a role with a colon.
_TURN = compile_lazily(r"(?<![\w\])])\[(/?[A-Z][A-Z_]{0,30})\]")
_ROLE = compile_lazily(
    r"(?<![\w-])(system|assistant|human|user|developer|instructions?|response|系统|助手|用户)\s?[:：]"
    r"(?=\s|\Z)",
    re.IGNORECASE,
)
# Openings of a block at the start of a line: heading, list item, quote, table, rule, fence.
# A label in brackets that only we may write, wherever it stands: "[confidence 1.0]", "[PROVEN ...".
_LABEL = compile_lazily(
    r"[\[［【〔](\s*(?:proven|established|candidate|deprecated|limited\s+data|confidence|succeeded"
    r"|failed|contested|worked\s+[0-9]|[0-9]+\s+of\s+[0-9]"
    r"|已验证|已确立|候选|已弃用|数据有限|置信度|成功|失败|有争议|[0-9]+(?:个任务|次运行))"
    r"[^\[\]［］【】〔〕]*+)([\]］】〕]?)",
    re.IGNORECASE,
)
# Any other group in brackets at the very end, where our own labels stand.
_GROUP_AT_END = compile_lazily(r"(?:(?<=\s)|\A)[\[［【〔]([^\]］】〕]*+)([\]］】〕]?)\Z")
_OPENERS = compile_lazily(
    r"(?:(?:\#{1,6}|[-*+]|[0-9]{1,9}[.)]|(?:[-=_*]\ ?){3,})(?:\ |$)|[>|]\ ?|~{3,}\ ?)++",
    re.VERBOSE,
)


# Links and pictures, which programs fetch without being told to.
_LINK = compile_lazily(r"\](?=\()")
_PICTURE = compile_lazily(r"!(?=\[)")
_ADDRESS = compile_lazily(r"\b(h)tt(ps?)(?=://)|\b(f)t(ps?)(?=://)", re.IGNORECASE)
# Words by which we warn and recommend; an agent's own are no label.
_OURS = compile_lazily(
    r"(?<![\w-])(avoid|costly|known pitfall|an agent noted|proven|established|candidate|deprecated"
    r"|limited data|避免|代价高|已知陷阱|已验证|已确立|已弃用)\s?[:：]",
    re.IGNORECASE,
)
_HEADING = compile_lazily(r"(?<!\S)#{1,6}(?=\s)\s?")
_QUOTES = str.maketrans(dict.fromkeys('"“”„«»', "'"))
_NAME_CHARS: Final = 64
_PART_CHARS: Final = 24
_MOST_PARTS: Final = 8
_MOST_WORDS: Final = 3
_FEW_PARTS: Final = 4
_NO_NAME = compile_lazily(r"[^\w.:/@+ -]+")
# The parts of a name: between signs, and where a capital begins one.
_NAME_PART = compile_lazily(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[^\W_A-Z]+|[\W_]")
_SHORT_NAME = compile_lazily(r"[\w.:/@+~$%\\'’=-]{1,40}")
_SIGN = compile_lazily(r"[\W_]")
_LONG_SCRIPT = compile_lazily(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{9,}")


def visible(text: str) -> str:
    """Return a name with unprintable characters written out, with a backslash."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )


def plain(text: str) -> str:
    """Return the text without control and invisible characters, its lines kept.

    Letters, digits and brackets of full width and of mathematics are plain ones; other controls
    are spaces.
    """
    text = one_form(_INVISIBLE.sub("", _ESCAPES.sub(" ", text)))
    return "\n".join(_PARTING.sub(" ", line) for line in text.splitlines())


def one_line(text: str, limit: int = DEFAULT_LIMIT) -> str:
    """Return the text on one line, inert, and at most `limit` (≥ 1) characters long.

    Controls and line ends become spaces, invisible characters and what a terminal obeys vanish,
    letters and brackets of full width become plain ones, fences of backticks become apostrophes,
    the opening bracket of a tag becomes ‹, the marks of a chat's turns are no marks, and anything
    that would open a Markdown block at the start is removed. A text that is cut ends in an
    ellipsis. A second call changes nothing.
    """
    flat = plain(text).replace("\n", " ")
    flat = _PARTING.sub(" ", flat).strip(" ")
    flat = _FENCE.sub(lambda fence: "'" * len(fence.group()), flat)
    flat = _TAG_END.sub("|›", _TAG.sub("‹", flat))
    flat = _ROLE.sub(r"\1 -", _TURN.sub(r"(\1)", flat))
    opened = _OPENERS.match(flat)
    if opened is not None:
        flat = flat[opened.end() :]
    return bounded(flat.strip(" "), limit)


def quoted(text: str, limit: int = DEFAULT_LIMIT, *, is_chinese: bool = False) -> str:
    """Return an agent's text in quotation marks that it cannot close.

    Links, pictures and addresses lead nowhere, and no word in it is a label or a heading of ours.

    Args:
        text: as it was reported.
        limit: the most characters between the marks.
        is_chinese: whether the marks are Chinese ones.
    """
    inert = one_line(text, limit).translate(_QUOTES)
    inert = _LINK.sub("] ", _PICTURE.sub("", inert))
    inert = _ADDRESS.sub(lambda found: _unlinked(found.group()), inert)
    inert = unlabelled(_OURS.sub(r"\1 -", _HEADING.sub("", inert)))
    return f"“{inert}”" if is_chinese else f'"{inert}"'


def _unlinked(scheme: str) -> str:
    """Return the beginning of an address as people who write about attacks spell it: hxxps."""
    return scheme.replace("t", "x").replace("T", "X")


def identifier(text: str) -> str:
    """Return a name in the form of a name: letters, digits and `_-.:/@+`, at most 64 of them.

    A name has at most eight parts, as in "mcp__files__read_text", or three words, as in
    "shell:npm test"; what is longer is cut, with an ellipsis. "?" stands for one without letters.
    """
    words = _NO_NAME.sub(" ", one_line(text, 4 * _NAME_CHARS)).split()
    name = " ".join(words[:_MOST_WORDS])[:_NAME_CHARS]
    kept, parts = 0, 0
    for part in _NAME_PART.finditer(name):
        is_sign = len(part.group()) == 1 and _SIGN.match(part.group()) is not None
        parts += not is_sign
        if parts > _MOST_PARTS or (not is_sign and _is_long(part.group())):
            break
        kept = part.end()
    shown = name[:kept].rstrip(" _-.:/@+")
    if not shown:
        shown = name[: _PART_CHARS // 3] if name else "?"
    is_cut = shown != text.strip() and (len(words) > _MOST_WORDS or len(shown) < len(name))
    return shown + ELLIPSIS * is_cut


def _is_long(part: str) -> bool:
    return len(part) > _PART_CHARS or _LONG_SCRIPT.search(part) is not None


def is_short_name(word: str) -> bool:
    """Return whether a word is a plain one, or a name of no more than four parts."""
    if _SHORT_NAME.fullmatch(word) is None or _LONG_SCRIPT.search(word):
        return False
    parts = [part for part in _NAME_PART.findall(word) if _SIGN.fullmatch(part) is None]
    return len(parts) <= _FEW_PARTS and all(len(part) <= _PART_CHARS for part in parts)


def unlabelled(text: str) -> str:
    """Return the text with nothing in it that reads as a label of ours.

    A line for a prompt ends in a label such as "[confidence 0.7]" or "[7 of 7 runs succeeded]". An
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
