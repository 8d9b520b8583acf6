"""Conditions of a task against those that procedures were used under."""

from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.competences.conditions import (
    UNKNOWN,
    Fit,
    KnownTrigger,
    fit_of_record,
    parted,
    values_of,
)
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.learning.competences.selection import choose, confidence_of

NAMES = st.sampled_from(["os", "branch", "node", "ci"])
VALUES = st.one_of(st.sampled_from(["linux", "windows", "main"]), st.integers(0, 3), st.booleans())
CONDITIONS = st.dictionaries(NAMES, VALUES, max_size=4)
SCORES = st.floats(0.01, 0.99)
FITS = st.builds(Fit, st.integers(-3, 0), st.integers(0, 3))


def fit_of(asked, known):
    """Return how far the conditions of a task agree with the only ones of a record."""
    return fit_of_record(values_of(asked), [KnownTrigger.of("signal", [known])], None)


def test_equal_values_agree_others_contradict_and_what_one_has_alone_tells_nothing():
    """Name by name."""
    known = {"os": "linux", "branch": "main", "ci": True}
    assert fit_of({"os": "linux"}, known) == Fit(0, 1)
    assert fit_of({"os": "windows"}, known) == Fit(-1, 0)
    assert fit_of({"os": "linux", "branch": "dev"}, known) == Fit(-1, 1)
    assert fit_of({"node": 20}, known) == UNKNOWN
    assert fit_of(None, known) == fit_of(known, None) == fit_of({}, known) == UNKNOWN


def test_what_a_command_line_says_agrees_with_what_was_recorded():
    """A number and its text, upper and lower case, a nested name and its path."""
    known = {"node": 20, "os": "Linux", "ci": True, "env": {"stage": "prod"}, "share": 1.0}
    asked = {"node": "20", "OS": "linux ", "ci": "true", "env.stage": "prod", "share": "1"}
    assert fit_of(asked, known) == Fit(0, 5)


def test_a_list_stands_for_any_of_its_values():
    """And null for none."""
    assert fit_of({"os": "linux"}, {"os": ["mac", "linux"]}) == Fit(0, 1)
    assert fit_of({"os": ["windows"]}, {"os": ["mac", "linux"]}) == Fit(-1, 0)
    assert fit_of({"os": None}, {"os": "linux"}) == UNKNOWN


def test_prose_that_differs_does_not_contradict():
    """Two sentences may mean the same."""
    assert fit_of("only on CI", "only on ci ") == Fit(0, 1)
    assert fit_of("only on CI", "in the pipeline") == UNKNOWN
    assert fit_of("only on CI", {"ci": True}) == UNKNOWN


def test_a_record_fits_by_the_best_of_all_conditions_it_was_used_under():
    """It was used under each of them."""
    triggers = [KnownTrigger.of("red build", ({"os": "linux"}, {"os": "windows"}))]
    assert fit_of_record(values_of({"os": "windows"}), triggers, None).matches
    assert fit_of_record(values_of({"os": "mac"}), triggers, None).contradicts


def test_the_trigger_that_the_task_is_about_is_asked():
    """A record's other triggers may have other conditions."""
    triggers = [
        KnownTrigger.of("red build", ({"os": "linux"},)),
        KnownTrigger.of("slow page", ({"os": "windows"},)),
    ]
    assert fit_of_record(values_of({"os": "windows"}), triggers, "the build is red").contradicts
    assert fit_of_record(values_of({"os": "windows"}), triggers, "a page is slow").matches
    assert fit_of_record(values_of({"os": "windows"}), triggers, "something else").matches


def test_a_record_that_was_seen_without_conditions_is_not_contradicted():
    """Nothing is known of them."""
    assert (
        fit_of_record(values_of({"os": "windows"}), [KnownTrigger.of("red build", ())], None)
        == UNKNOWN
    )


@given(CONDITIONS, CONDITIONS)
def test_the_order_of_names_does_not_matter_nor_who_asks(asked, known):
    """Both are sets of names with values."""
    backwards = dict(reversed(asked.items()))
    assert fit_of(asked, known) == fit_of(backwards, known) == fit_of(known, asked)


@given(CONDITIONS, CONDITIONS, VALUES)
def test_more_agreement_never_fits_worse_and_more_contradiction_never_better(asked, known, value):
    """Whatever else is known."""
    before = fit_of(asked, known)
    assert fit_of(asked | {"new": value}, known | {"new": value}) > before
    assert fit_of(asked | {"new": "this"}, known | {"new": "that"}) < before
    assert fit_of(asked | {"new": value}, known) == before


@given(st.dictionaries(st.text("abcdefgh", max_size=2), st.tuples(SCORES, FITS)))
def test_values_are_parted_by_conditions_and_keep_their_order_within(entries):
    """Strictly: what fits better is ranked above, and what is unknown keeps its value."""
    values = {key: value for key, (value, _) in entries.items()}
    fits = {key: fit for key, (_, fit) in entries.items()}
    moved = parted(values, fits)
    assert all(0 <= value <= 1 for value in moved.values())
    assert moved == parted(dict(reversed(values.items())), fits)
    for one, other in ((a, b) for a in values for b in values):
        if fits[one] > fits[other]:
            assert moved[one] > moved[other] or moved[one] > 1 - 1e-9
        elif fits[one] == fits[other] and values[one] > values[other]:
            assert moved[one] >= moved[other]
    assert all(moved[key] == values[key] for key in values if fits[key] == UNKNOWN)


def test_the_best_of_two_with_one_signal_is_the_one_that_fits():
    """And it stands alone: what the conditions contradict is no rival."""
    scores = {"linux": 0.9, "windows": 0.8}
    fits = {"linux": Fit(-1, 0), "windows": Fit(0, 1)}
    choice = choose(CompetenceRules(), scores, fits)
    assert [each for each, _ in choice.ranked] == ["windows", "linux"]
    assert (choice.confidence, choice.needs_more) == (0.8, False)
    assert choose(CompetenceRules(), scores).needs_more


def test_a_choice_among_what_only_contradicts_needs_more():
    """There is nothing to act on."""
    assert confidence_of({"a": 0.9}, {"a": Fit(-1, 0)}) == 0.0


@given(st.dictionaries(st.text("abcdefgh", max_size=2), st.tuples(SCORES, FITS)))
def test_the_confidence_is_a_share_and_the_ranking_goes_by_fit(entries):
    """For whatever fits."""
    scores = {key: value for key, (value, _) in entries.items()}
    fits = {key: fit for key, (_, fit) in entries.items()}
    choice = choose(CompetenceRules(), scores, fits)
    assert 0 <= choice.confidence <= 1
    order = [fits[each] for each, _ in choice.ranked]
    assert order == sorted(order, reverse=True)
