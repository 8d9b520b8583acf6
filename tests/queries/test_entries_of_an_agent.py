"""Patterns and lessons of an agent's runs; and answers that are kept until the project changes."""

import time

from sqlalchemy import event

from tests.store.teaching import learn_reports
from trackrecord.resources.access.project_store import ProjectStore, Transaction, calls_use
from trackrecord.resources.experience.lessons import lessons_of
from trackrecord.resources.experience.patterns import deprecate_pattern, patterns_of
from trackrecord.settings.daemon_settings import load_daemon_settings
from trackrecord.store.database.engine import reading

SETTINGS = load_daemon_settings()
DAY = 86_400.0
NOW = time.time()
FAILING = [{"tool": "pay", "ok": False, "error": "no funds"}] * 2


def teach(store, *outcomes):
    reports = [{"success": False, **fields} for fields in outcomes]
    learn_reports(
        store, reports, SETTINGS.rules, now=NOW, received=lambda _, fields: fields["timestamp"]
    )


def run(number, source, **fields):
    at = NOW - (40 - number) * DAY
    given = {"outcome_id": f"o{number}", "task_id": f"t{number}", "timestamp": at, "source": source}
    return given | fields


def test_an_agents_patterns_and_lessons(store):
    """Those that its runs touch."""
    teach(store, *(run(n, "ana", patterns=["x"], tool_graph=FAILING) for n in range(6)))
    teach(store, run(9, "ben", patterns=["y"]), run(20, "ben", patterns=["x"]))

    def patterns(source):
        found = patterns_of(Transaction(connection, SETTINGS, "default"), source=source)
        return {pattern.slug for pattern in found}

    with reading(store) as connection:
        assert patterns("ana") == {"x"}
        assert patterns("ben") == {"x", "y"}
        assert patterns("nobody") == set()
        it = Transaction(connection, SETTINGS, "default")
        (lesson,) = lessons_of(it)
        assert lesson.agents == ("ana",)
        for source, content, count in (("ana", "PAY", 1), ("ben", None, 0), ("ana", "pray", 0)):
            assert len(lessons_of(it, source=source, content=content)) == count


def test_a_page_of_patterns_reads_none_again_that_has_not_changed(store):
    """Also under another filter; an outcome and a decision are seen at once."""
    teach(store, *(run(n, "ana", patterns=[f"p{n % 9}"]) for n in range(30)))
    read = []

    def note(_connection, _cursor, statement, *_rest):
        read.append(" ".join(statement.split()))

    event.listen(store, "before_cursor_execute", note)

    def patterns(**wanted):
        read.clear()
        with reading(store) as connection:
            found = patterns_of(Transaction(connection, SETTINGS, "default"), **wanted)
        return found, any("FROM items" in statement for statement in read)

    everything, has_read = patterns()
    assert (len(everything), has_read) == (9, True)
    assert patterns() == (everything, False)
    assert patterns(content="P3") == ([everything[3]], False)
    first = everything[0].id
    with calls_use(ProjectStore(store, SETTINGS, "default")):
        deprecate_pattern(first, by="Ada", reason="x")
    (changed,) = (each for each in patterns()[0] if each.id == first)
    assert changed.standing.state == "deprecated"
    teach(store, run(31, "ana", patterns=["new"]))
    assert len(patterns()[0]) == 10
