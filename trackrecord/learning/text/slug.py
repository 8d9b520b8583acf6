"""Slugs: names without letter case, punctuation and width of characters; they are ids of patterns.

Exactly one kind of id begins with `anti-`: that of an anti-pattern. A pattern that an agent itself
named "anti-foo" is known as "anti_foo". An underscore occurs nowhere else in a slug, so
"anti_foo" (a pattern), "anti-foo" (the anti-pattern of "foo") and "anti-anti_foo" (the
anti-pattern of "anti_foo") are three things and stay three things.
"""

import re
import unicodedata
from hashlib import sha256
from typing import Final

ANTI_PREFIX: Final = "anti-"
# The longest id, an anti-pattern's prefix included.
MAX_ID_LENGTH: Final = 128
MAX_SLUG_LENGTH: Final = MAX_ID_LENGTH - len(ANTI_PREFIX)

_ESCAPED_ANTI_PREFIX = "anti_"
_DIGEST_LENGTH = 32
# Longer names, which no person gave, are folded piece by piece: putting a long run of
# combining marks into their canonical order takes the square of its length.
_PIECE = 1024
_SEPARATORS = re.compile(r"[^a-z0-9]+")


def slug_of_words(name: str) -> str | None:
    """Return the slug of a name as written; None if it holds neither a letter nor a digit.

    Letters, digits and combining marks of any script stay, in runs joined by single hyphens. Names
    that differ in letter case, in full- and half-width forms or in punctuation are the same. A slug
    is its own slug. A slug that would be too long is cut, and a digest of the whole name
    distinguishes it from others with the same beginning; lengths are counted in characters.
    """
    words = _SEPARATORS.sub("-", name.lower()) if name.isascii() else _words(name)
    slug = words.strip("-")
    if not slug:
        return None
    if slug.startswith(ANTI_PREFIX):
        slug = _ESCAPED_ANTI_PREFIX + slug.removeprefix(ANTI_PREFIX)
    return slug if len(slug) <= MAX_SLUG_LENGTH else _shortened(slug)


def _words(name: str) -> str:
    folded = "".join(_folded(name[start : start + _PIECE]) for start in range(0, len(name), _PIECE))
    spaced = "".join(character if _is_part_of_word(character) else " " for character in folded)
    return "-".join(spaced.split())


def _folded(piece: str) -> str:
    # Folding may leave characters for NFKC to compose, and composing some to fold.
    folded = unicodedata.normalize("NFKC", piece).casefold()
    return unicodedata.normalize("NFKC", folded).casefold()


def _is_part_of_word(character: str) -> bool:
    # Marks carry the vowels of many scripts; without them different words would be one.
    return character.isalnum() or unicodedata.category(character).startswith("M")


def _shortened(slug: str) -> str:
    digest = sha256(slug.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]
    head = slug[: MAX_SLUG_LENGTH - _DIGEST_LENGTH - 1].rstrip("-")
    return f"{head}-{digest}"


def anti_id(pattern_id: str) -> str:
    """Return the id of a pattern's anti-pattern."""
    return ANTI_PREFIX + pattern_id


def pattern_id_of(some_id: str) -> str:
    """Return the id of the pattern behind an id: an anti-pattern's pattern, else the id itself."""
    return some_id.removeprefix(ANTI_PREFIX)
