"""Identity: the slug that a pattern is known by, whatever language and letter case it came in.

A slug holds letters, digits and combining marks of any script, in runs joined by single hyphens.
Exactly one kind of id begins with `anti-`: that of an anti-pattern. A pattern that an agent itself
named "anti-foo" is known as `anti_foo`. An underscore occurs nowhere else in a slug, so
`anti_foo` (a pattern), `anti-foo` (the anti-pattern of `foo`) and `anti-anti_foo` (the
anti-pattern of `anti_foo`) are three things and stay three things.
"""

import re
import unicodedata
from hashlib import sha256

ANTI_PREFIX = "anti-"
# The longest id, an anti-pattern's prefix included.
MAX_ID_LENGTH = 128
MAX_SLUG_LENGTH = MAX_ID_LENGTH - len(ANTI_PREFIX)

_ESCAPED_ANTI_PREFIX = "anti_"
_DIGEST_LENGTH = 32
_SEPARATORS = re.compile(r"[^a-z0-9]+")


def slug_of(name: str) -> str | None:
    """The slug of a name, or None when it holds neither a letter nor a digit.

    Names that differ in letter case, in full- and half-width forms or in punctuation are the same.
    A slug is its own slug. One that would be too long is cut, and a digest of the whole keeps it
    apart from others that begin alike; lengths are counted in characters.
    """
    words = _SEPARATORS.sub("-", name.lower()) if name.isascii() else _words(name)
    slug = words.strip("-")
    if not slug:
        return None
    if slug.startswith(ANTI_PREFIX):
        slug = _ESCAPED_ANTI_PREFIX + slug.removeprefix(ANTI_PREFIX)
    return slug if len(slug) <= MAX_SLUG_LENGTH else _shortened(slug)


def anti_id(pattern_id: str) -> str:
    """The id of a pattern's anti-pattern."""
    return ANTI_PREFIX + pattern_id


def pattern_id_of(some_id: str) -> str:
    """The pattern that an id is about: an anti-pattern's own pattern, else the id itself."""
    return some_id.removeprefix(ANTI_PREFIX)


def is_anti_id(some_id: str) -> bool:
    """Whether an id is an anti-pattern's; no slug of a name ever is."""
    return some_id.startswith(ANTI_PREFIX)


def _words(name: str) -> str:
    # Folding may leave what NFKC would still compose, and composing what would still fold.
    folded = unicodedata.normalize("NFKC", name).casefold()
    folded = unicodedata.normalize("NFKC", folded).casefold()
    spaced = "".join(character if _is_part_of_word(character) else " " for character in folded)
    return "-".join(spaced.split())


def _is_part_of_word(character: str) -> bool:
    # Marks carry the vowels of many scripts; without them different words would be one.
    return character.isalnum() or unicodedata.category(character).startswith("M")


def _shortened(slug: str) -> str:
    digest = sha256(slug.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]
    head = slug[: MAX_SLUG_LENGTH - _DIGEST_LENGTH - 1].rstrip("-")
    return f"{head}-{digest}"
