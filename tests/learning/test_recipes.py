"""Recipes: steps, argument schemas and what validates them."""

import pytest

from trackrecord.learning.competences.episodes.checks import is_check
from trackrecord.learning.competences.record import RecipeStep, recipe_of, typical_order


@pytest.mark.parametrize(
    "tool",
    [
        "go_test",
        "goTest",
        "lint",
        "run-mypy",
        "TypeCheck",
        "type_check",
        "go_build",
        "pytest",
        "运行测试",
    ],
)
def test_checks(tool):
    """Tests, linters, type checks and builds are recognised by the words of their names."""
    assert is_check(tool)


@pytest.mark.parametrize("tool", ["edit_file", "checkout", "latest", "write_tests", "编写测试", ""])
def test_no_checks(tool):
    """A word inside a word does not count, and who writes tests does not run them."""
    assert not is_check(tool)


def test_a_check_validates_what_precedes_it():
    """Every step names the checks that follow directly."""
    recipe = recipe_of(("edit", "go_build", "go_test", "commit"), {}, max_arguments=9)
    assert recipe == (
        RecipeStep(1, "edit", {}, ("go_build", "go_test")),
        RecipeStep(2, "go_build", {}, ("go_test",)),
        RecipeStep(3, "go_test", {}, ()),
        RecipeStep(4, "commit", {}, ()),
    )


def test_the_schema_has_every_type_seen():
    """Of the most frequent arguments, by name."""
    seen = {("e", "path", "string"): 5, ("e", "line", "number"): 2, ("e", "line", "null"): 1,
            ("e", "rare", "string"): 1, ("x", "other", "string"): 9}  # fmt: skip
    (step,) = recipe_of(("e",), seen, max_arguments=2)
    assert step.args_schema == {"line": "null | number", "path": "string"}


def test_the_typical_order_is_the_most_frequent():
    """Of several, the alphabetically first."""
    assert typical_order({("b", "a"): 3, ("a", "b"): 2}) == ("b", "a")
    assert typical_order({("b", "a"): 2, ("a", "b"): 2}) == ("a", "b")
