"""What one task is handed: its arm, what is tried on it, and what is recorded of it."""

import time

import pytest

import trackrecord
from tests.prompt.advised import NOW, advice, kind, pattern_entry, rankings
from tests.prompt.advised import known_pattern as pattern
from trackrecord.prompt.choosing.exposure import TRIED, exposure_plan_of
from trackrecord.prompt.choosing.inputs import PromptInputs
from trackrecord.prompt.choosing.pattern_entries import patterns_for
from trackrecord.prompt.documents.advice_document import AdviceDocument, Expected, PatternEntry
from trackrecord.prompt.documents.presentation import present_other
from trackrecord.prompt.documents.rankings_document import ProjectDocuments
from trackrecord.prompt.question.question import PromptQuestion
from trackrecord.prompt.reading.cache import write_document
from trackrecord.prompt.reading.client import RankingsReader, given_readers
from trackrecord.prompt.reading.context import context
from trackrecord.testing import captured, rankings_of

GIVEN = (pattern("known", 40, 12), pattern("new", 1), pattern("other", 20, 6))
WARNING = pattern("bad", 1, 9)


@pytest.fixture
def reader_of(fake_client, settings):
    """Reads what is known of a project, with some settings of the agent's and of the document."""

    def make(*, document=None, **more):
        known = {"patterns": GIVEN, "anti_patterns": (WARNING,)} | (document or {})
        write_document(fake_client, settings, rankings(**known))
        return RankingsReader(settings.model_copy(update=more), fake_client)

    return make


def test_without_a_task_id_nothing_is_recorded(reader_of):
    """And nothing is withheld."""
    answer = reader_of(holdout=0.9).read(project="p", task="fix the build")
    assert (answer.arm, answer.exposure) == (None, None)
    assert answer.prompt


def test_what_a_task_is_handed_is_recorded(reader_of):
    """All entries in the text, under their ids, with what was drawn."""
    answer = reader_of().read(project="p", task_id="t", explore="off")
    exposure = answer.exposure
    assert sorted(exposure.entries) == ["anti-bad", "known", "new", "other"]
    assert (exposure.task_id, exposure.project, exposure.revision) == ("t", "p", 1)
    assert (answer.arm, answer.propensity, exposure.withheld) == ("given", 1.0, False)
    assert exposure.at == pytest.approx(time.time(), abs=60)


def test_a_withheld_task_gets_nothing_and_records_what_it_would_have_got(reader_of):
    """The same in every process and on a retry."""
    reader, again = reader_of(holdout=0.5), reader_of(holdout=0.5)
    arms = set()
    for number in range(30):
        answer = reader.read(project="p", task_id=f"t{number}")
        repeated = again.read(project="p", task_id=f"t{number}")
        assert (repeated.arm, repeated.prompt) == (answer.arm, answer.prompt)
        assert repeated.exposure.entries == answer.exposure.entries
        arms.add(answer.arm)
        if answer.arm == "withheld":
            assert (answer.prompt, answer.patterns, answer.tokens) == ("", (), 0)
            assert answer.exposure.withheld
            assert "known" in answer.exposure.entries
        assert answer.exposure.holdout == 0.5
    assert arms == {"given", "withheld"}


@pytest.mark.parametrize(("decided", "withheld"), [(0.0, 0), (None, 40), (0.9, 40)])
def test_what_was_decided_for_the_project_goes_before_the_setting(reader_of, decided, withheld):
    """--disable ends a holdout that the agent's settings ask for."""
    reader = reader_of(holdout=0.9, document={"holdout": decided})
    found = [reader.read(project="p", task_id=f"t{number}").arm for number in range(40)]
    assert found.count("withheld") == pytest.approx(withheld, abs=10)


def test_a_task_that_explores_gets_its_own_order(reader_of):
    """The same bytes on a retry; what is little known is marked, warnings keep warning."""
    reader = reader_of()
    orders = set()
    for number in range(30):
        answer = reader.read(project="p", task_id=f"t{number}", explore="full", limit=1)
        again = reader.read(project="p", task_id=f"t{number}", explore="full", limit=1)
        assert again.prompt == answer.prompt
        assert answer.is_explored
        assert 'AVOID: an agent\'s strategy "bad"' in answer.prompt
        (first,) = answer.patterns
        orders.add(first.id)
        assert (TRIED["en"] in answer.prompt) == (first.id == "new")
    assert orders == {"known", "new", "other"}


@pytest.mark.parametrize("explore", ["off", "some", "full"])
@pytest.mark.parametrize("task", [None, "fix the lamp"])
@pytest.mark.parametrize("given", [(), GIVEN])
def test_what_is_warned_of_is_never_offered(reader_of, explore, task, given):
    """Not even where nothing else is known, and whatever is drawn."""
    warned = {"patterns": given, "others": (pattern("bad", 1, 9, present=present_other),)}
    reader = reader_of(document=warned)
    for number in range(30):
        answer = reader.read(project="p", task=task, task_id=f"t{number}", explore=explore)
        assert "bad" not in {each.id for each in answer.patterns}
        assert 'AVOID: an agent\'s strategy "bad"' in answer.prompt


def test_off_explores_nothing_and_some_explores_every_task(reader_of):
    """By the setting, and by the question where it says more."""
    reader = reader_of(explore="off")
    assert not any(reader.read(project="p", task_id=f"t{n}").is_explored for n in range(30))
    assert all(
        reader.read(project="p", task_id=f"t{n}", explore="some").is_explored for n in range(30)
    )


def test_context_keeps_the_agents_own_candidates_of_a_withheld_task(reader_of):
    """What is learnt is withheld, and what the agent brings is not."""
    own = [{"id": "now", "kind": "task", "text": "Fix it"}]
    arms = {}
    with given_readers.within(reader_of(holdout=0.5)):
        for number in range(40):
            answer = context("p", candidates=own, task_id=f"t{number}", explore="off")
            arms[answer.arm] = answer
    assert set(arms) == {"given", "withheld"}
    assert [each.id for each in arms["withheld"].taken] == ["now"]
    assert sorted(arms["withheld"].exposure.entries) == ["anti-bad", "known", "new", "other"]
    assert len(arms["given"].taken) == 5


def test_an_agents_own_test_sees_what_was_handed_out():
    """Without a thread or a server; and without `captured()` nothing is published."""
    with rankings_of(patterns=["Split by feature"]):
        trackrecord.rankings(task_id="t")
        with captured() as published:
            trackrecord.rankings(task_id="t")
            trackrecord.rankings()
            trackrecord.context(task_id="u")
    assert [each.task_id for each in published.exposures] == ["t", "u"]
    assert published.exposures[0].entries == ("Split by feature",)
    assert published.exposures[0].exposure_id != published.exposures[1].exposure_id
    assert published.dropped == []


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"task_id": ""}, "task_id must have 1 to 256 characters"),
        ({"task_id": "x" * 257}, "task_id must have 1 to 256 characters"),
        ({"task_id": ["t"]}, "task_id must be a text"),
        ({"task_id": "t", "explore": "much"}, "explore must be one of off, some, full"),
    ],
)
def test_wrong_arguments_are_said(given, problem):
    """And never raise."""
    with rankings_of(patterns=["x"]), captured() as published:
        answer = trackrecord.rankings(**given)
    assert problem in answer.problem
    assert answer.patterns
    assert len(published.exposures) == (given["task_id"] == "t")


def test_without_rankings_nothing_is_recorded(settings, fake_client):
    """Nothing could have been handed to either arm."""
    answer = RankingsReader(settings, fake_client).read(project="p", task_id="t")
    assert (answer.arm, answer.exposure) == (None, None)
    assert answer.problem == "nothing is learnt yet"


def test_drawn_rates_come_from_the_estimates_where_there_are_any():
    """Those of the advice go before the rankings' own counts; strange ones never break a draw."""
    document = rankings(computed_at=0.0, patterns=GIVEN)
    sure = Expected(9000.0, 1000.0, 0.9, 0.89, 0.91)
    counted_anew = AdviceDocument(
        project="p",
        revision=1,
        computed_at=0.0,
        patterns=(
            PatternEntry(slug="new", expected=sure),
            PatternEntry(slug="other", expected=Expected(0.0, 0.0, 0.5, 0.0, 1.0)),
        ),
    )
    for counted in (counted_anew, None):
        rates = [
            exposure_plan_of(
                PromptQuestion("p", task_id=f"t{number}"), ProjectDocuments(document, counted),
                holdout=0.0, explore="full",
            )
            .draws["patterns"]
            .rates["new"]
            for number in range(30)
        ]  # fmt: skip
        assert (max(rates) - min(rates) < 0.03) == (counted is not None)


def test_what_a_draw_puts_first_is_the_best_of_all_that_is_held_back():
    """Whether a rate is drawn or known well, no pattern with more to say for it is passed over."""
    slugs = [f"p{number:03}" for number in range(150)]
    # The best are of a kind of their own; of the others some are of both, and so more relevant.
    estimates = tuple(
        pattern_entry(
            slug, ({2: 9}, {0: 9}, {0: 9, 1: 9})[number % 3],
            successes=40 - number // 4 + 30 * (number % 3 == 0), failures=20 + number % 7,
            effect=-0.1, effect_low=-0.2, effect_high=0.1, is_worth_recommending=False,
        )
        for number, slug in enumerate(slugs)
    )  # fmt: skip
    texts = ["refund an order", "refund a paid order", "refund an old bill", "repair the red build"]
    counted = advice(
        {text: [(("get", "do"), 1, 0)] for text in texts},
        task_kinds=dict(zip(texts, (0, 0, 1, 2), strict=True)),
        patterns=estimates,
        kinds=(kind("refunds"), kind("bills"), kind("repairs")),
    )
    document = rankings(computed_at=NOW, patterns=tuple(pattern(slug, 5) for slug in slugs))
    known = ProjectDocuments(document, counted)
    seen = set()
    for number in range(60):
        task = ("refund an order", "refund a bill", "repair the build")[number % 3]
        question = PromptQuestion("p", task, task_id=f"t{number}")
        plan = exposure_plan_of(question, known, holdout=0.0, explore="full")
        asked, draw = PromptInputs(question, document, counted, exposure_plan=plan), plan.draws
        values = {
            each.slug: draw["patterns"].rate(each.slug, 0.0)
            * sum(asked.expectation.kinds.get(name, 0.0) for name in each.by_kind)
            for each in estimates
        }
        best = max(slugs, key=lambda slug: (values[slug], slug))
        assert values[patterns_for(asked).offers[0].entry.id] == values[best]
        seen.add((best in draw["patterns"].rates, asked.kind))
    assert {is_drawn for is_drawn, _ in seen} == {True, False}
