"""select(): never over budget by its own count, nothing left out that fits, stable text."""

from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.prompt.candidates.candidate import Candidate
from trackrecord.prompt.candidates.rank import Ranking, rank
from trackrecord.prompt.candidates.select import DOUBTS_MOST, select
from trackrecord.prompt.question.rules import ContextRules

RULES = ContextRules()
KINDS = ("phase", "task", "decision", "evidence", "pattern", "anti_pattern", "competence", "memory")
# How a text counts; all of them but the first are a caller's own, and none of those adds up.
TOKENIZERS = {
    "by ratio": None,
    "a token for four characters": lambda text: ceil(len(text) / 4),
    "words": lambda text: len(text.split()),
    "words between marks": lambda text: ["<s>", *text.split(), "</s>"],
    "bytes": lambda text: text.encode(),
    "runs of one character": lambda text: [
        place for place in range(len(text)) if place == 0 or text[place] != text[place - 1]
    ],
    "longer texts are dearer": lambda text: len(text) + len(text) ** 2 // 500,
}


@st.composite
def ranked_lists(draw, *, enabled=(True, False)):
    count = draw(st.integers(0, 14))
    is_enabled = draw(st.sampled_from(enabled))
    # Without headings an empty text is nothing that could be counted.
    shortest = 0 if is_enabled else 1
    return rank(
        [
            Candidate(
                id=f"id-{number}",
                kind=draw(st.sampled_from(KINDS)),
                text=draw(st.text("ab 中\n", min_size=shortest, max_size=60)),
                tokens=draw(st.none() | st.integers(0, 30)),
                score=draw(st.sampled_from([0.0, 0.5, 1.0])),
                content_type=draw(st.sampled_from(["prose", "code", "markdown", "json"])),
                has_failure=draw(st.booleans()),
            )
            for number in range(count)
        ],
        {"enabled": is_enabled},
    )


budgets = st.integers(-3, 120)
tokenizers = st.sampled_from(sorted(TOKENIZERS))


def only(ranked, entries):
    return Ranking(tuple(entries), (), ranked.rules)


def counted(name, ranked, entries):
    """Return the token count of some entries' rendered text, from a count of its own."""
    tokenizer = TOKENIZERS[name]
    everything = select(only(ranked, entries), None)
    if tokenizer is None:
        of_candidates = sum(entry.tokens for entry in entries)
        outline = len(everything.text) - sum(len(entry.candidate.text) for entry in entries)
        return of_candidates + ceil(outline * RULES.markdown_ratio)
    if not everything.text:  # nothing to hand on, whatever the tokenizer says of nothing
        return 0
    answer = tokenizer(everything.text)
    return answer if isinstance(answer, int) else len(answer)


def named(entries):
    return [entry.candidate.id for entry in entries]


@given(ranked_lists(), budgets, tokenizers)
def test_the_text_is_never_over_budget_by_the_same_count(ranked, budget, name):
    """Headings and separators included; what is reported is what is counted."""
    chosen = select(ranked, budget, tokenizer=TOKENIZERS[name])
    assert chosen.tokens == counted(name, ranked, chosen.taken)
    assert chosen.tokens <= max(0, budget)
    assert sorted(named(chosen.taken) + named(chosen.left_out)) == sorted(named(ranked.entries))


@given(ranked_lists(), budgets, tokenizers)
def test_nothing_is_left_out_that_would_still_fit(ranked, budget, name):
    """After what ranks above it and was taken."""
    chosen = select(ranked, budget, tokenizer=TOKENIZERS[name])
    taken = set(named(chosen.taken))
    above = []
    for entry in ranked.entries:
        if entry.candidate.id not in taken:
            assert budget <= 0 or counted(name, ranked, [*above, entry]) > budget
        else:
            above.append(entry)


@given(ranked_lists(), budgets, tokenizers)
def test_the_best_that_fits_alone_is_always_taken(ranked, budget, name):
    """Whatever ranks above it and does not."""
    fits = [e for e in ranked.entries if 0 < counted(name, ranked, [e]) <= budget]
    chosen = select(ranked, budget, tokenizer=TOKENIZERS[name])
    if fits:
        assert fits[0].candidate.id in named(chosen.taken)


@given(ranked_lists(), tokenizers)
def test_equality_fits_and_one_token_less_does_not(ranked, name):
    """The budget is inclusive."""
    everything = select(ranked, None, tokenizer=TOKENIZERS[name])
    assert everything.left_out == ()
    if everything.tokens > 0:
        exact = select(ranked, everything.tokens, tokenizer=TOKENIZERS[name])
        assert named(exact.taken) == named(ranked.entries)
        assert select(ranked, everything.tokens - 1, tokenizer=TOKENIZERS[name]).left_out


@given(ranked_lists(enabled=(True,)), st.randoms(), st.sampled_from(["en", "zh"]))
def test_an_unchanged_choice_is_the_same_text_whatever_the_order(ranked, chance, language):
    """Rank to choose, then render in a stable order: prompt caches live on that."""
    shuffled = list(ranked.entries)
    chance.shuffle(shuffled)
    before = select(ranked, None, lang=language)
    after = select(only(ranked, shuffled), None, lang=language)
    assert before.text.encode() == after.text.encode()


@given(ranked_lists(enabled=(False,)), budgets | st.none(), tokenizers)
def test_with_ranking_off_the_text_is_what_was_handed_in(ranked, budget, name):
    """One text after the other, as they came, without headings; what does not fit is left out."""
    chosen = select(ranked, budget, tokenizer=TOKENIZERS[name])
    given_order = sorted(chosen.taken, key=lambda each: int(each.candidate.id[3:]))
    assert named(chosen.taken) == named(given_order)
    assert chosen.text == "\n\n".join(each.candidate.text for each in given_order)


@pytest.mark.parametrize("budget", [0, -1, -(10**9)])
@pytest.mark.parametrize("name", sorted(TOKENIZERS))
def test_no_budget_gives_nothing(budget, name):
    """Not even what counts for no token at all."""
    ranked = rank([{"id": "a", "kind": "task", "text": "", "tokens": 0}])
    chosen = select(ranked, budget, tokenizer=TOKENIZERS[name])
    assert (chosen.taken, chosen.text, chosen.tokens) == ((), "", 0)
    assert named(chosen.left_out) == ["a"]


def test_an_unknown_language_is_english():
    """A prompt is never broken by it."""
    ranked = rank([{"id": "t", "kind": "task", "text": "x"}])
    assert select(ranked, 100, lang="fr").text == "## Tasks\n\nx"


def test_few_questions_are_asked_of_a_tokenizer():
    """Each candidate once, and the whole text a handful of times, also when no room is left."""
    asked = []

    def words(text):
        asked.append(text)
        return len(text.split())

    texts = [f"{number} " + "word " * 40 for number in range(300)]
    ranked = rank(
        [{"id": f"{n:03}", "kind": "evidence", "text": text} for n, text in enumerate(texts)],
        {"max_candidates": 500},
    )
    chosen = select(ranked, 4000, tokenizer=words)
    assert 3960 <= chosen.tokens <= 4000
    assert len(asked) <= len(texts) + 20
    asked.clear()
    doubtful = select(ranked, 41 * 8 + 2 + 39, tokenizer=words)
    assert doubtful.tokens == 41 * 8 + 2
    assert len(asked) <= len(texts) + 20 + DOUBTS_MOST
    asked.clear()
    full = select(ranked, 41 * 8 + 2, tokenizer=words)
    assert full.tokens == 41 * 8 + 2
    assert len(asked) <= len(texts) + 20


def test_headings_are_estimated_too():
    """Pieces that fit but for their heading raise a bounded number of questions."""
    asked = []

    def characters(text):
        asked.append(text)
        return len(text)

    own = [{"id": "first", "kind": "phase", "text": "x" * 80, "priority": 1}]
    own += [{"id": f"{n:03}", "kind": "agent_context", "text": "12345"} for n in range(300)]
    config = {"max_candidates": 500, "weights": {"phase": 1}}
    first = len("## Phase\n\n") + 80
    chosen = select(rank(own, config), first + 15, tokenizer=characters)
    assert (named(chosen.taken), chosen.tokens) == (["first"], first)
    assert len(asked) <= len(own) + 20 + DOUBTS_MOST


def test_each_candidate_reports_the_tokenizers_own_count():
    """Not an estimate, and not what the caller once said."""
    ranked = rank([{"id": "t", "kind": "task", "text": "two words", "tokens": 99}])
    (entry,) = select(ranked, 100, tokenizer=lambda text: len(text.split())).taken
    assert entry.tokens == 2


@pytest.mark.parametrize("answer", [-1, None, 1.5, True])
def test_a_tokenizer_that_counts_nothing_is_named(answer):
    """Its answer is shown."""
    ranked = rank([{"id": "t", "kind": "task", "text": "x"}])
    with pytest.raises(ValueError, match=f"a tokenizer gives .* not {answer}"):
        select(ranked, 100, tokenizer=lambda _: answer)
