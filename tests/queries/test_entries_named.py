"""Which entry a person means who withdraws or restores one."""

import pytest

from trackrecord.resources.figures.effect import entries_named

KNOWN = (
    "one",
    "one-more",
    "lesson:497ad761",
    "lesson:497bcdef",
    "memory:abcd1234",
    "skill-feed",
    "failing:give+up",
)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("one", ["one"]),
        ("one-", ["one-more"]),
        ("lesson:497ad761", ["lesson:497ad761"]),
        ("497ad761", ["lesson:497ad761"]),
        ("497a", ["lesson:497ad761"]),
        ("abcd", ["memory:abcd1234"]),
        ("feed", ["skill-feed"]),
        ("give+up", ["failing:give+up"]),
        ("lesson:497", ["lesson:497ad761", "lesson:497bcdef"]),
        ("497", []),
        ("on", []),
        ("", []),
        ("lesson:zzzz", []),
    ],
)
def test_an_id_or_its_beginning_stands_for_an_entry(given, meant):
    """As other commands show it, or as prompts name it; at least four characters of it."""
    assert entries_named(given, KNOWN) == meant
