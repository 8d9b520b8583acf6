"""The call that ends a run: told where it makes a difference within tasks, silent otherwise."""

import pytest

from benchmarks.worlds.endings import endings
from trackrecord.learning.advice.lessons.find import find_completions
from trackrecord.learning.advice.lessons.history import history_of
from trackrecord.learning.advice.lessons.rules import LessonRules


@pytest.mark.parametrize("seed", range(5))
def test_what_successes_do_to_the_end_is_told(seed):
    """The ending; nothing of the kind without an effect."""
    found = list(find_completions(history_of(endings(seed, 0.35)), LessonRules()))
    texts = [each.lines["en"] for each in found]
    assert any(text.startswith("runs that end with `close` succeeded more") for text in texts)
    assert not list(find_completions(history_of(endings(seed, 0.0)), LessonRules()))
