"""Tags by hand: added and removed once, true for any moment, kept by a rebuild; both dialects."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.store.teaching import DAY, NOW, RULES, outcome, rebuild, standings, teach
from trackrecord.errors import InvalidTag
from trackrecord.learning.patterns.tags import checked_tag
from trackrecord.learning.strategies.catalogue import Strategy
from trackrecord.resources.access.project_store import ProjectStore, calls_use
from trackrecord.resources.experience import patterns as calls
from trackrecord.resources.prompt_documents.prompt_document import rank_project
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.patterns.decide import change_tags
from trackrecord.store.patterns.read import PatternFilter, read_standings
from trackrecord.wire.outcome import decode_outcome
from trackrecord.wire.outcome_scorer import scorer_of

# No Redis is there: rankings are a worker's matter then.
SETTINGS = DaemonSettings(home=Path("/nowhere"))


def tag(store, *, add=(), remove=(), slug="plan", now=NOW):
    with writing(store) as connection:
        project_id = project_id_of(connection, "default")
        _, after = change_tags(connection, project_id, slug, add=add, remove=remove, now=now)
    return sorted(after)


def tag_pattern(store, slug, **given):
    with calls_use(ProjectStore(store, SETTINGS, "default")):
        return calls.tag_pattern(slug, **given)


def tags(store, *, slug="plan"):
    return standings(store)[slug].facts.tags


def test_tags_are_added_and_removed(store):
    """Added, removed and added again; a rebuild keeps them."""
    teach(store, [outcome(1, patterns=["plan"], received=NOW - 9 * DAY)], now=NOW - 9 * DAY)
    tag(store, add=["ui", "slow"], now=NOW - 6 * DAY)
    tag(store, remove=["ui"], now=NOW - 4 * DAY)
    tag(store, add=["ui"], remove=["slow"], now=NOW - 2 * DAY)
    assert tags(store) == ("ui",)
    rebuild(store)
    assert tags(store) == ("ui",)


def test_two_who_tag_at_once_both_do(store):
    """Each tag is there once."""
    teach(store, [outcome(1, patterns=["plan"])])
    with ThreadPoolExecutor(4) as pool:
        wanted = [[f"t{n}", "shared"] for n in range(4)]
        list(pool.map(lambda add: tag_pattern(store, "plan", add=add), wanted))
    assert tags(store) == ("shared", "t0", "t1", "t2", "t3")
    assert tag_pattern(store, "plan", remove=["shared"]).removed == ("shared",)
    assert "shared" not in tags(store)


def test_patterns_are_found_by_their_tags_and_by_their_kind(store):
    """An anti-pattern has the tags of its pattern; agents get them in the cached rankings."""
    failing = [outcome(n, helpful=False, patterns=["plan"]) for n in range(4)]
    teach(store, [*failing, outcome(9, patterns=["other"])])
    tag_pattern(store, "anti-plan", add=["  UI "])

    def found(wanted):
        with reading(store) as connection:
            project_id = project_id_of(connection, "default")
            every = read_standings(connection, project_id, RULES, now=NOW)
        admitted = filter(PatternFilter(tag=wanted).admits, every)
        return sorted(each.facts.slug for each in admitted)

    assert (found("ui"), found("named"), found("strategy")) == (["plan"], ["other", "plan"], [])
    with reading(store) as connection:
        document, _ = rank_project(connection, "default", RULES, now=NOW)
    assert document.anti_patterns[0].tags == ("named", "ui")
    assert document.patterns[0].tags == ("named",)


def test_a_tag_outlives_rules_that_no_longer_find_its_pattern(store):
    """It is there again when an outcome touches the pattern again; other patterns are dropped."""
    own = replace(
        RULES,
        strategies=(Strategy("By moon", phrases=("by the moon",)),
                    Strategy("By sun", phrases=("by the sun",))),
    )  # fmt: skip
    body = b'{"outcome_id": "o", "task_id": "t", "success": true, "description": "%s"}' % (
        b"we split by the moon, and by the sun"
    )
    scored = scorer_of(own).score(decode_outcome(body), body, received_at=NOW, outcome_id="o")
    teach(store, [scored, outcome(1, patterns=["plan"])], rules=own)
    tag(store, add=["night"], slug="by-moon")
    tag(store, add=["day"], slug="by-sun", now=NOW)
    tag(store, remove=["day"], slug="by-sun", now=NOW)
    rebuild(store)
    assert sorted(standings(store)) == ["plan"]
    rebuild(store, own)
    assert tags(store, slug="by-moon") == ("night",)
    assert standings(store)["by-moon"].facts.content == "By moon"
    assert tags(store, slug="by-sun") == ()


@pytest.mark.parametrize(
    "wrong", ["", "  ", "x" * 65, "two\nlines", "strategy", "Named", 5, None, "# ui", "a\0b"]
)
def test_what_is_no_tag_is_refused(wrong):
    """In one line."""
    with pytest.raises(InvalidTag) as refused:
        checked_tag(wrong)
    assert len(str(refused.value).splitlines()) == 1
