"""One question about runs has one answer, whoever asks: Python, the command, HTTP and the page."""

import asyncio
import html
import json
import random
import re
from urllib.parse import unquote

import pytest

import trackrecord
from tests.door.running_door import Door
from tests.queries.test_runs_filtered import question, reports
from tests.store.teaching import outcome, teach
from trackrecord.errors import UnknownId
from trackrecord.learning.text.times import iso
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.database.migrate import store_at
from trackrecord_cli.main import run

QUESTIONS = 12
_ROW = re.compile(
    r'<a href="/runs/([^?"]+)[^>]*>.*?data-label="Calls"[^>]*>([\d,]+)(.*?)</td>', re.DOTALL
)
_FAILED = re.compile(r"✕ ([\d,]+) failed")
_NEXT = re.compile(r'<a rel="next" href="([^"]+)"')
_NOT_FOUND = 404


@pytest.fixture(scope="module")
def filled_home(tmp_path_factory):
    """A home with runs: random ones, and a few as agents make them."""
    home = tmp_path_factory.mktemp("home")
    wanted = {"tool": "shell:pytest", "args": {"command": "reproduce it"}, "ok": False}
    found = {"tool": "shell:pytest", "ok": False, "error": "1 failed"}
    long = [{"tool": f"step {number % 450}", "ok": number != 300} for number in range(601)]
    decided = {"grounds": [{"kind": "test", "call": 0}], "outcome_source": "tests"}
    made = {"wanted": [wanted], "found": [found], "long": long}
    with store_at(DaemonSettings(home=home).effective_database_url) as store:
        for each in reports(random.Random(11)):
            teach(store, [each], now=each.received_at)
        teach(store, [outcome(name, tool_graph=calls, **decided) for name, calls in made.items()])
    return home


@pytest.fixture(scope="module")
def http(filled_home):
    with Door(filled_home) as door, door.client(timeout=120) as client:
        yield client


@pytest.fixture
def surfaces(http, filled_home, monkeypatch, capsys):
    """Ask each surface: they return ids, calls and failed calls of runs."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(filled_home))
    return {
        "python": in_python,
        "awaited": awaited,
        "http": lambda asked, at: over_http(http, asked, at),
        "command": lambda asked, at: by_command(capsys, asked, at),
        "page": lambda asked, _at: on_page(http, asked),
    }


def answers_of(surfaces, asked, at=None):
    """Return the answer of each surface; None for that there is no such task."""
    answers = {}
    for name, ask in surfaces.items():
        if name == "page" and at is not None:  # it shows the present
            continue
        try:
            answers[name] = ask(asked, at)
        except UnknownId:
            answers[name] = None
    return answers


def in_python(asked, at):
    return _of(trackrecord.list_runs(limit=None, at=at, **asked))


def awaited(asked, at):
    return _of(asyncio.run(trackrecord.alist_runs(limit=None, at=at, **asked)))


def _of(runs):
    return [(each.outcome_id, len(each.calls), each.failed_calls) for each in runs]


def over_http(http, asked, at):
    given, after, found = {**asked, **({"at": at} if at else {})}, {}, []
    while after is not None:
        answer = _known(http.get("/api/v1/runs", params={**given, **after, "limit": 20})).json()
        found += answer["items"]
        after = {"after": answer["cursor"]} if answer["cursor"] else None
    return _of_documents(found)


def by_command(capsys, asked, at):
    options = [f"--at={iso(at)}"] if at else []
    for name, value in asked.items():
        option = "--task" if name == "task_id" else f"--{name}"
        options.append(option if value is True else f"{option}={value}")
    capsys.readouterr()
    if run(["runs", "list", "--json", "--limit", "1000", *options]):
        raise UnknownId(capsys.readouterr().err)
    return _of_documents(json.loads(capsys.readouterr().out))


def _of_documents(runs):
    return [
        (each["outcome_id"], len(each["calls"]), sum(map(_has_failed, each["calls"])))
        for each in runs
    ]


def _has_failed(call):
    return call["ok"] is False or (call["ok"] is None and call["error"] is not None)


def on_page(http, asked):
    given = {}
    for name, value in asked.items():
        given["task" if name == "task_id" else name] = "yes" if value is True else value
    answer, found = _known(http.get("/runs", params=given)), []
    while True:
        for some_id, calls, more in _ROW.findall(answer.text):
            failed = _FAILED.search(more)
            found.append((
                unquote(html.unescape(some_id)), int(calls.replace(",", "")),
                int(failed[1].replace(",", "")) if failed else 0,
            ))  # fmt: skip
        link = _NEXT.search(answer.text)
        if link is None:
            return found
        answer = _known(http.get(html.unescape(link[1])))


def _known(answer):
    if answer.status_code == _NOT_FOUND:
        raise UnknownId(answer.text)
    return answer.raise_for_status()


def test_every_surface_gives_the_same_runs(surfaces):
    """In the same order, with the same numbers, page by page; now and in the past."""
    chance = random.Random(5)
    were_any = set()
    for asked, at in [({}, None), *(question(chance) for _ in range(QUESTIONS))]:
        answers = answers_of(surfaces, asked, at)
        were_any.add(bool(answers["python"]))
        for name, answer in answers.items():
            assert answer == answers["python"], (name, asked, at)
    assert were_any == {True, False}


def test_what_is_learnt_of_a_call_does_not_hide_that_it_failed(surfaces):
    """Neither what was meant to fail, nor what a check found, nor one among hundreds of calls."""
    for answer in answers_of(surfaces, {"failed": True, "tool": "shell:pytest"}).values():
        assert sorted(answer) == [("ofound", 1, 1), ("owanted", 1, 1)]
    for answer in answers_of(surfaces, {"tool": "step 300"}).values():
        assert answer == [("olong", 601, 1)]
    unknown = answers_of(surfaces, {"task_id": "nobody's"})
    assert unknown == dict.fromkeys(surfaces)
