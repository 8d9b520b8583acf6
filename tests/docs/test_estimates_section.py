"""The worked example of how-it-learns.md is what the code computes."""

from tests.docs.documentation import text_of
from trackrecord.learning.advice.estimates.estimates import estimate
from trackrecord.learning.advice.estimates.posterior import PRIOR_STRENGTH
from trackrecord.learning.advice.estimates.wording import sentence
from trackrecord.learning.advice.runs.runs import Run, RunStep
from trackrecord.learning.advice.texts import compared_line
from trackrecord.learning.numbers.percent import percent
from trackrecord.learning.patterns.evidence import Evidence
from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.learning.patterns.texts import PatternWording, counted_line

NOW = 1_790_000_000.0


def test_the_line_of_what_such_tasks_go_better_with_is_computed():
    """As it stands in a prompt."""
    evidence = Evidence(54, 0, 46, 54.0, 46.0, succeeded=54)
    line = counted_line(PatternWording("plan first", Maturity.DEPRECATED, evidence))
    assert compared_line(line, 0.12) in text_of("docs/how-it-learns.md")
    assert compared_line(line, 0.12).removeprefix("- ") in text_of("docs/prompts.md")


def test_the_worked_example_is_computed():
    """Each number of the example, and the sentence that it comes to."""
    runs = [
        Run(
            outcome=number,
            task_id=f"t{number}",
            ended_at=NOW,
            success=place < successes,
            steps=(RunStep(tool),),
        )
        for tool, first, successes, count in (("a", 0, 14, 18), ("b", 50, 5, 20))
        for place, number in enumerate(range(first, first + count))
    ]
    found = estimate(runs, now=NOW, half_life_days=90.0)
    ours = found.procedure("a")
    page = " ".join(text_of("docs/how-it-learns.md").split())
    assert sentence(ours) in page
    assert PRIOR_STRENGTH == 3.0
    assert f"5.5 ÷ 21 = {percent(5.5 / 21, 1)}%" in page
    assert f"(5 + 3 × 0.26) ÷ 23 = {percent(ours.usual, 1)}%" in page
    assert f"(14 + 3 × 0.25) ÷ 21 = {percent(ours.posterior.mean, 1)}%" in page
    for count, words in ((10, "88% (72 to 99%)"), (2, "70% (35 to 95%)")):
        alone = estimate(runs[:count], now=NOW, half_life_days=90.0).procedure("a")
        assert words.replace("% (", "% of runs (")[:-1] in sentence(alone)
        assert f"{count} of {count}" in page
        assert words in page
    points = percent(ours.effect.difference, 1)
    assert f"14/18 − 5/20 = 53 points, of which the pull towards 0 leaves {points}" in page
