"""Identity: the id of a pattern, for every language and letter case of its name.

Exactly one kind of id begins with `anti-`: that of an anti-pattern. A pattern that an agent itself
named "anti-foo" is known as "anti_foo". An underscore occurs nowhere else in a slug, so
"anti_foo" (a pattern), "anti-foo" (the anti-pattern of "foo") and "anti-anti_foo" (the
anti-pattern of "anti_foo") are three things and stay three things.
"""

from ..text.slug import ANTI_PREFIX as ANTI_PREFIX  # part of this module's vocabulary


def anti_id(pattern_id: str) -> str:
    """Return the id of a pattern's anti-pattern."""
    return ANTI_PREFIX + pattern_id


def pattern_id_of(some_id: str) -> str:
    """Return the id of the pattern behind an id: an anti-pattern's pattern, else the id itself."""
    return some_id.removeprefix(ANTI_PREFIX)
