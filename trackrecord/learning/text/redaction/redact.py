"""Replace secrets in texts and in arguments."""

import string
from functools import lru_cache
from typing import Any, Final

from .detectors import (
    BEARER,
    COOKIE,
    ELEMENT,
    FLAG,
    HEADER,
    LONG,
    LONGEST_BEFORE,
    NAME,
    NAME_BEFORE,
    NAME_HINTS,
    NAMES,
    NO_VALUE,
    OPTIONS,
    PHRASES,
    PLACEHOLDER,
    PRIVATE_KEY,
    PRIVATE_KEY_END,
    QUOTED,
    QUOTED_BEFORE,
    SEPARATOR,
    TOKEN,
    URL_PASSWORD,
    URL_TOKEN,
    VALUE_BEHIND,
    WORD,
)

# Beyond what is kept, so much is read that a secret is seen whole where the cut goes through it.
_MARGIN: Final = 4096
_SHORT: Final = 80
_LONGEST_KEPT: Final = 8192
_BEHIND_NAME: Final = " \t\r\n\\\"']"
_FEWEST_DIGITS: Final = 3
_LONGEST_NAME: Final = 128
_DEEPEST: Final = 8
# The kind of each character that a long word may have: digit, upper case, lower case, or none.
_KINDS: Final = str.maketrans(
    string.digits + string.ascii_uppercase + string.ascii_lowercase,
    "d" * 10 + "u" * 26 + "l" * 26,
    "_-",
)
_CHANGES: Final = ("du", "ud", "dl", "ld", "ul", "lu")


_BEHIND: Final = rf"\1{PLACEHOLDER}"


def redacted(text: str) -> str:
    """Return a text with the secrets in it replaced by `<secret>`, in linear time."""
    known = _remembered if len(text) <= _SHORT else _just_redacted
    return known(text) if len(text) <= _LONGEST_KEPT else _redacted(text)


def _redacted(text: str) -> str:
    if text.isascii() and text.replace("_", "").isalnum():
        return WORD.sub(_word, text)  # nothing but a form of its own can be in one word
    if "-----" in text or "PuTTY" in text:
        text = PRIVATE_KEY_END.sub(PLACEHOLDER, text)
        text = PRIVATE_KEY.sub(PLACEHOLDER, text)
    if "://" in text:
        text = URL_PASSWORD.sub(_BEHIND, text)
        text = URL_TOKEN.sub(_BEHIND, text)
    lower = text.lower()
    has_name = _may_be_name(lower)
    text = _after_words(text, lower, has_name=has_name)
    if has_name:
        if "-" in text:
            text = FLAG.sub(_BEHIND, text)
        if "<" in text:
            text = ELEMENT.sub(_BEHIND, text)
        text = QUOTED.sub(_quoted, text)
        text = _without_named(text)
    return WORD.sub(_word, text)


# Names of tools, of arguments and of files come again and again.
_remembered = lru_cache(maxsize=4096)(_redacted)
# A line gives a call its name and its arguments, an error is that of a call and of a run.
_just_redacted = lru_cache(maxsize=256)(_redacted)


def _after_words(text: str, lower: str, *, has_name: bool) -> str:
    if "authorization" in lower:
        text = HEADER.sub(_BEHIND, text)
    if "bearer" in lower:
        text = BEARER.sub(_BEHIND, text)
    if "cookie" in lower:
        text = COOKIE.sub(_BEHIND, text)
    hinted = [each for hint, each in _BY_HINT[" -" in text, has_name] if hint in lower]
    for pattern in dict.fromkeys(hinted):
        text = pattern.sub(_BEHIND, text)
    return text


def redacted_beginning(text: str, most: int) -> str:
    """Return the beginning of a text, of at most so many characters, without secrets."""
    return redacted(text[: most + _MARGIN])[:most]


def redacted_value(value: Any, most: int | None, depth: int = _DEEPEST) -> Any:  # noqa: ANN401 - any JSON
    """Return decoded JSON without secrets.

    A member whose name says that it holds a secret loses its value, whatever that is; what is
    nested too deeply is left out.

    Args:
        value: the JSON.
        most: how many characters of each text are kept; None for as many as it has, so that a
            text stays within its bounds.
        depth: how many levels are kept.
    """
    if isinstance(value, str):
        return _cut(value, most)
    if depth == 0:
        return None
    if isinstance(value, dict):
        return {
            _cut(str(name), most and _LONGEST_NAME): _hidden(inner)
            if is_secret_name(str(name)) and is_plain(inner)
            else redacted_value(inner, most, depth - 1)
            for name, inner in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [redacted_value(inner, most, depth - 1) for inner in value]
    return value


def _cut(text: str, most: int | None) -> str:
    if most is None:
        return redacted(text)[: max(len(text), _LONGEST_NAME)]
    return redacted_beginning(text, most)


def is_plain(value: Any) -> bool:  # noqa: ANN401 - any JSON
    """Return whether a value is a text, a number or a list of these."""
    if isinstance(value, (list, tuple)):
        return all(map(is_plain, value))
    return isinstance(value, (str, int, float))


def _hidden(value: Any) -> Any:  # noqa: ANN401 - any JSON
    return [PLACEHOLDER] * len(value) if isinstance(value, (list, tuple)) else PLACEHOLDER


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Return whether a member of this name holds a secret."""
    return bool(NAME.search(name[:_LONGEST_NAME]))


def _without_named(text: str) -> str:
    """Replace the values after a name of a secret."""
    kept, done, at = [], 0, 0
    while separator := SEPARATOR.search(text, at):
        at = separator.end()
        if not _is_named(text[max(done, separator.start() - LONGEST_BEFORE) : separator.start()]):
            continue
        value = VALUE_BEHIND.match(text, at)
        if value is None or (value[4] is not None and _tells_none(value[4], separator.group())):
            continue
        blank, double, single, _ = value.groups()
        kept += [text[done:at], blank, double or single or "", PLACEHOLDER]
        done = at = value.end()
    return "".join([*kept, text[done:]])


def _is_named(before: str) -> bool:
    words = before.rstrip(_BEHIND_NAME)
    last = max(words.rfind(" "), words.rfind("\n")) + 1
    if not _may_be_name(words[last:]):
        return False
    # A name may have two words.
    return NAME_BEFORE.search(before, max(words.rfind(" ", 0, last - 1), 0)) is not None


def _quoted(found: Any) -> str:  # noqa: ANN401 - a match
    value: str = found.group()
    before = found.string[max(found.start() - LONGEST_BEFORE, 0) : found.start()]
    is_named = _may_be_name(before) and QUOTED_BEFORE.search(before)
    return f"{value[0]}{PLACEHOLDER}{value[0]}" if is_named else value


def _may_be_name(text: str) -> bool:
    lower = text.lower()
    return bool([hint for hint in NAME_HINTS if hint in lower])


# Flat lists, without and with what may be an option or a name: most texts hold no hint, which is
# found out for each of them.
_BY_HINT: Final = {
    (has_option, has_name): [
        (hint, pattern)
        for hints, pattern in ((*OPTIONS, *PHRASES) if has_option else PHRASES)
        for hint in hints
        if has_name or not (_may_be_name(hint) or NAMES in pattern.pattern)
    ]
    for has_option in (False, True)
    for has_name in (False, True)
}


def _tells_none(value: str, separator: str) -> bool:
    """Return whether a value only refers to a secret, as `$TOKEN` does, or says it "is wrong"."""
    if separator.strip() == "is" and value.lower().rstrip(".!?") in NO_VALUE:
        return True
    return value.startswith(("${", "$(")) or (value[:1] == "$" and value[1:].isupper())


def _word(found: Any) -> str:  # noqa: ANN401 - as above
    word: str = found.group()
    return _remembered_word(word) if len(word) <= _SHORT else _safe_word(word)


def _safe_word(word: str) -> str:
    return LONG.sub(_random, TOKEN.sub(PLACEHOLDER, word))


_remembered_word = lru_cache(maxsize=4096)(_safe_word)


def _random(found: Any) -> str:  # noqa: ANN401 - as above
    word: str = found.group()
    return PLACEHOLDER if _is_random(word) else word


def _is_random(word: str) -> bool:
    """Return whether a long word mixes digits, small and large letters unlike a name."""
    kinds = word.translate(_KINDS)
    if kinds.count("d") < _FEWEST_DIGITS or "u" not in kinds or "l" not in kinds:
        return False
    return 3 * sum(map(kinds.count, _CHANGES)) > len(kinds)
