"""The table of sections: one row holds for the cache, for both calls and for the commands."""

from dataclasses import fields, replace
from typing import get_args

import msgspec
import pytest

from tests.prompt.golden import FULL, NOW, TASK, competence, memory, pattern
from tests.support.prompt_answers import answer_from, context_from
from trackrecord.learning.advice.entry_ids import PREFIXES
from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.prompt.answers.rankings_answer import Rankings
from trackrecord.prompt.candidates.candidate import LEARNT_KINDS
from trackrecord.prompt.candidates.sections import FEEDS, SECTIONS, Kind
from trackrecord.prompt.documents.rankings_document import RankingsDocument
from trackrecord.prompt.question.rules import FIELDS as INCLUDED_BY
from trackrecord.prompt.question.rules import ContextRules
from trackrecord.resources.reports.run_exposures import kind_of
from trackrecord.resources.reports.runs import HandedKind

RULES = ContextRules()
FIELDS = [feed.field for feed in FEEDS]
OF_RANKINGS = [feed.field for feed in FEEDS if not feed.is_of_advice]


def document(**parts):
    return RankingsDocument(project="p", revision=1, computed_at=NOW, **(parts or FULL))


def answered(given=None, *, rules=RULES, **more):
    return answer_from(given or document(), rules=rules, task=TASK, **more)


def composed(given=None, *, rules=RULES, **more):
    return context_from(given or document(), (), rules, task=TASK, **more)


def test_each_list_of_the_cache_feeds_a_section_and_is_answered():
    """A list that no row names would be cached in vain; a row without a list would feed nothing."""
    lists = {field.name for field in msgspec.structs.fields(RankingsDocument)}
    lists -= {"project", "revision", "computed_at", "beyond", "holdout", "disputed"}
    lists -= {"needs_more_below"}
    # These are offered among the patterns.
    lists -= {"others", "promoted", "candidate_multiplier"}
    # These are offered to tasks that they fit.
    lists -= {"unconfirmed"}
    # These are no part of the text: an evaluation is weighed by them.
    lists -= {"criteria"}
    assert lists == set(OF_RANKINGS)
    assert all(hasattr(Rankings, name) for name in FIELDS)
    assert {field.name for field in fields(ContextRules)} >= {feed.weight for feed in FEEDS}


def test_each_kind_has_a_section_of_its_own_in_both_languages():
    """So that whatever an agent hands in has a place."""
    assert set(get_args(Kind)) == {row.kind for row in SECTIONS.values()}
    assert set(get_args(Kind)) <= SECTIONS.keys()
    assert set(Maturity) <= SECTIONS.keys()
    for row in SECTIONS.values():
        assert row.headings.keys() == {"en", "zh"}


def test_each_prefix_is_that_of_a_section_and_a_kind_of_what_is_handed_out():
    """An id tells which list it is from, in a run's details, in short ids and in the effect."""
    prefixes = {section.prefix for section in SECTIONS.values()} - {""}
    assert prefixes == set(PREFIXES) - {"task:"}
    assert [kind_of(prefix + "x") for prefix in PREFIXES] == [
        (prefix.removesuffix(":"), "x") for prefix in PREFIXES
    ]
    assert {prefix.removesuffix(":") for prefix in PREFIXES} <= set(get_args(HandedKind))


def test_each_section_has_a_name_to_include_it_by():
    """The names are read by agents that do not import the sections."""
    assert tuple(FIELDS) == INCLUDED_BY


@pytest.mark.parametrize("field", OF_RANKINGS)
def test_each_feed_reaches_both_calls(field):
    """Its entries stand in the text of both, and are objects of the one."""
    alone = document(**{field: FULL[field]})
    answer, context = answered(alone), composed(alone)
    assert answer.prompt == context.prompt != ""
    assert len(answer.told[field]) == len(context.taken) > 0
    kinds = {
        row.kind for feed, rows in FEEDS.items() for row in rows.values() if feed.field == field
    }
    assert {each.kind for each in context.taken} == kinds <= set(LEARNT_KINDS)


@pytest.mark.parametrize("feed", FEEDS, ids=lambda feed: feed.field)
def test_each_weight_decides_what_fits_in_both_calls(feed):
    """What weighs most is taken first, and what weighs nothing is taken last."""
    heavy = replace(RULES, **{feed.weight: 5.0})
    kind = next(iter(FEEDS[feed].values())).kind
    assert composed(rules=heavy, budget=60).taken[0].kind == kind
    small = answered(rules=heavy, budget=60)
    of_kind = [name for name in FIELDS if small.told[name] and name in _fields_of(kind)]
    assert of_kind


def _fields_of(kind):
    return {feed.field for feed, rows in FEEDS.items() for row in rows.values() if row.kind == kind}


@pytest.mark.parametrize("budget", range(0, 400, 7))
def test_both_calls_are_one_engine(budget):
    """With nothing of an agent's own, they write the same text and count the same tokens."""
    answer, context = answered(budget=budget), composed(budget=budget)
    assert (answer.prompt, answer.tokens) == (context.prompt, context.tokens)
    assert len(answer.over_budget) == len(context.left_out)
    assert answer.tokens <= budget


def test_other_rules_for_the_same_document():
    """What was made of a document for one call does not stand in for another call's rules."""
    given = document()
    first = composed(given)
    assert composed(given, rules=replace(RULES, pattern_weight=0.0)).taken != first.taken
    assert composed(given, language="zh").prompt != first.prompt
    assert composed(given) == first


def test_ids_that_did_not_fit_name_their_kind():
    """A memory's id may be anything, also a pattern's."""
    given = document(
        patterns=(pattern("x", "proven", 1.0),),
        competences=(competence("c", "login", 0.5),),
        memories=(memory("x", "The login test", 0.5),),
    )
    assert set(answered(given, budget=0).over_budget) == {"x", "c", "memory:x"}
