"""Choosing under a token budget: never over, nothing left out that fits, stable text."""

from hypothesis import given
from hypothesis import strategies as st

from trackrecord.prompt.budget import Candidate, choose_within, tokens_of

HEADINGS = ("## Avoid\n", "## Proven\n", "## Tools\n")


@st.composite
def candidate_lists(draw):
    count = draw(st.integers(0, 12))
    return [
        Candidate(
            section=draw(st.integers(0, len(HEADINGS) - 1)),
            id=f"id-{number}",
            score=draw(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, 1.5])),
            line="- " + draw(st.text("ab ", max_size=40)),
        )
        for number in range(count)
    ]


budgets = st.integers(-5, 120)


@given(candidate_lists(), budgets)
def test_the_text_is_never_over_budget_by_the_same_count(candidates, budget):
    """Headings and separators are within the budget, too."""
    chosen = choose_within(candidates, HEADINGS, budget)
    assert tokens_of(len(chosen.text)) <= max(0, budget)
    assert chosen.left_out == len(candidates) - len(chosen.ids)


@given(candidate_lists(), budgets, st.randoms())
def test_the_order_of_input_does_not_matter(candidates, budget, chance):
    """Any permutation gives the same choice and the same bytes."""
    shuffled = candidates[:]
    chance.shuffle(shuffled)
    assert choose_within(candidates, HEADINGS, budget) == choose_within(shuffled, HEADINGS, budget)


@given(candidate_lists(), budgets)
def test_nothing_is_left_out_that_would_still_fit(candidates, budget):
    """Each one that was left out would put the chosen ones above it over the budget."""
    chosen = choose_within(candidates, HEADINGS, budget)
    ranked = sorted(candidates, key=lambda each: (-each.score, each.section, each.id))
    above: list[Candidate] = []
    for candidate in ranked:
        if candidate.id in chosen.ids:
            above.append(candidate)
            continue
        with_it = choose_within([*above, candidate], HEADINGS, None)
        assert tokens_of(len(with_it.text)) > budget


@given(candidate_lists())
def test_without_a_budget_everything_is_taken(candidates):
    """None means no limit; each line stands once."""
    chosen = choose_within(candidates, HEADINGS, None)
    assert chosen.left_out == 0
    lines = chosen.text.splitlines()
    assert all(each.line in lines or not each.line.strip("- ") for each in candidates)


@given(candidate_lists(), budgets, st.floats(0.1, 0.9))
def test_an_unchanged_choice_is_the_same_text_whatever_the_scores(candidates, budget, factor):
    """Prompt caches live on byte-identical text."""
    rescored = [
        Candidate(each.section, each.id, each.score * factor, each.line) for each in candidates
    ]
    before = choose_within(candidates, HEADINGS, budget)
    after = choose_within(rescored, HEADINGS, budget)
    assert before.ids == after.ids
    assert before.text == after.text


def test_equality_fits_and_one_token_less_does_not():
    """The budget is inclusive."""
    only = Candidate(0, "a", 1.0, "- " + "x" * 60)
    needed = tokens_of(len(choose_within([only], HEADINGS, None).text))
    assert choose_within([only], HEADINGS, needed).ids == {"a"}
    assert choose_within([only], HEADINGS, needed - 1).ids == frozenset()


def test_a_smaller_one_is_taken_after_one_that_does_not_fit():
    """Selection goes on past what is too long."""
    long = Candidate(0, "long", 1.0, "- " + "x" * 400)
    short = Candidate(0, "short", 0.5, "- y")
    chosen = choose_within([long, short], HEADINGS, 20)
    assert (chosen.ids, chosen.left_out) == ({"short"}, 1)
