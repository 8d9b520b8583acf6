"""One judgement: what a pattern is called is the same everywhere, and true of its tasks."""

import re
import time
from html import unescape
from itertools import count

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from trackrecord.prompt.choosing.exposure import TRIED, TRIED_ANYWAY
from trackrecord_worker.caching.advise import Adviser

_NUMBERS = count()
_TRIED = (TRIED["en"], TRIED_ANYWAY["en"])
_STATES = ("proven", "established", "candidate", "deprecated")
# The task's kind and number, what was done, whether it succeeded, its age in days, how it scored.
_RUN = st.tuples(
    st.integers(0, 1),
    st.integers(0, 4),
    st.sampled_from(["guess", "plan", "ask"]),
    st.booleans(),
    st.sampled_from([0, 0, 0, 200]),
    st.sampled_from([{}, {"duration_ms": 20_000}, {"duration_ms": 4_000_000, "error_count": 5}]),
    st.sampled_from(["red", "red", "blue"]),
)


def _runs(what, successes, tasks, **signals):
    """So many tasks of a kind, each of which was tried once."""
    return [(0, n, what, n < successes, 0, signals, "red") for n in range(tasks)]


_QUICK = {"duration_ms": 20_000, "error_count": 0, "retry_count": 0}
_SLOW = {"duration_ms": 4_000_000, "error_count": 5, "retry_count": 3}


@pytest.fixture
def ask(page_door, shown_store):
    """Learn a history as a worker does, and ask for its patterns on every surface."""
    advise = Adviser(shown_store.engine, shown_store.client, shown_store.settings)

    def answers(runs):
        project = f"judged-{next(_NUMBERS)}"
        now = time.time()
        shown_store.teach(
            project,
            [
                {
                    "task_id": f"{kind}-{task}",
                    "instruction": ("mend the nightly build", "book a flight to Rome")[kind],
                    "patterns": [what],
                    "success": success,
                    "timestamp": now - age * 86_400 - number / 1000,
                    "source": source,
                    "outcome_source": "tests",
                    **signals,
                }
                for number, (kind, task, what, success, age, signals, source) in enumerate(runs)
            ],
        )
        shown_store.refresh(project)
        advise.advise(project)
        with page_door.client() as http:
            return _Answers(http, project)

    return answers


class _Answers:
    """The answers of every surface about a project's patterns."""

    def __init__(self, http, project):
        def get(path, **query):
            answer = http.get(path, params={"project": project, **query})
            answer.raise_for_status()
            return answer

        api = "/api/v1"
        listed = get(f"{api}/patterns").json()["items"]
        self.listed = {each["id"].removeprefix("anti-"): each for each in listed}
        self.entry = {slug: get(f"{api}/patterns/{slug}").json() for slug in self.listed}
        self.why = {slug: get(f"{api}/explain/{slug}").json() for slug in self.listed}
        self.page = {slug: _text(get(f"/patterns/{slug}").text) for slug in self.listed}
        rows = re.findall(r"<tr>.*?</tr>", get("/patterns").text, re.DOTALL)
        self.rows = {
            slug: next(_text(row) for row in rows if f"/patterns/{each['id']}?" in row)
            for slug, each in self.listed.items()
        }
        tasks = (None, "mend the nightly build", "book a flight to Rome")
        self.rankings = [
            get(f"{api}/rankings", **({"task": task} if task else {})).json() for task in tasks
        ]
        called = {"name": "recall", "arguments": {"task": tasks[1]}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
        accepted = {"accept": "application/json, text/event-stream"}
        said = http.post("/mcp", params={"project": project}, json=body, headers=accepted)
        self.prompts = [
            *(each["prompt"] for each in self.rankings),
            said.json()["result"]["content"][0]["text"],
        ]


def _text(html):
    return unescape(re.sub(r"<[^>]*>", " ", re.sub(r"<(style|script).*?</\1>", "", html)))


def _check(answers):
    for slug, listed in answers.listed.items():
        succeeded, failed = listed["success_count"], listed["failure_count"]
        tasks = succeeded + failed
        name = "anti-pattern" if listed["is_negative"] else listed["state"]
        # True of its tasks: praise only where most succeed, a warning only where most fail.
        if listed["state"] in ("proven", "established") or listed["multiplier"] >= 1:
            assert not listed["is_negative"]
            assert failed / tasks <= 0.3
        if listed["is_negative"]:
            assert failed / tasks >= 0.6
            assert listed["content"].endswith(
                f"Failed {failed}/{tasks} times ({int(100 * failed / tasks + 0.5)}% failure rate)"
            )
        if name == "deprecated":
            assert failed
        # Against what such tasks do otherwise, where that is known.
        estimate = listed["estimate"]
        if name in ("anti-pattern", "deprecated") and estimate["effect"] is not None:
            assert estimate["effect_high"] < 0
        if name in ("proven", "established") and estimate["effect"] is not None:
            assert estimate["effect_high"] >= 0 or any(
                f'"{slug}" [' in prompt and "points above" in prompt for prompt in answers.prompts
            )
        # The same everywhere.
        for other in (answers.entry[slug], answers.why[slug]["numbers"]):
            for field in ("id", "state", "multiplier", "is_negative", "content"):
                assert other[field] == listed[field]
            assert other["score"] == pytest.approx(listed["score"], abs=1e-3)
        because = "\n".join(answers.why[slug]["because"])
        assert ("\nanti-pattern: " in because) == listed["is_negative"]
        assert re.search(rf"^{listed['state']}[: ]", because, re.MULTILINE)
        for page in (answers.rows[slug], answers.page[slug]):
            badges = {each for each in (*_STATES, "anti-pattern") if f" {each} " in page[:4000]}
            assert name in badges
            assert f"{succeeded} of {tasks}" in page
        _check_prompts(answers, slug, listed)


def _check_prompts(answers, slug, listed):
    for rankings in answers.rankings:
        warned = [each["id"] for each in rankings["anti_patterns"]]
        offered = {each["id"]: each for each in rankings["patterns"]}
        assert listed["is_negative"] or f"anti-{slug}" not in warned
        is_tried = any(
            f'"{slug}" [' in line and line.endswith(_TRIED)
            for line in rankings["prompt"].split("\n")
        )
        if slug in offered and not is_tried:
            assert listed["state"] != "deprecated"
            assert not listed["is_negative"]
            assert offered[slug]["state"] == listed["state"]
            assert offered[slug]["multiplier"] == listed["multiplier"]
    for prompt in answers.prompts:
        for line in prompt.split("\n"):
            if f'"{slug}"' not in line:
                continue
            if "AVOID" in line:
                assert listed["is_negative"]
                continue
            assert not listed["is_negative"] or line.endswith(_TRIED)
            said = {each for each in _STATES if each.upper() in line}
            assert said <= {listed["state"]}
            assert f"{listed['success_count']} of " in line


_EXAMPLES = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@_EXAMPLES
@given(runs=st.lists(_RUN, min_size=3, max_size=60))
@example(runs=[*_runs("guess", 9, 21, **_QUICK), *_runs("plan", 6, 20, **_QUICK)])
@example(runs=_runs("guess", 9, 21, **_QUICK))
@example(runs=_runs("guess", 5, 20, duration_ms=20_000))
@example(runs=_runs("guess", 19, 20, **_SLOW))
@example(runs=[*_runs("guess", 6, 20), *_runs("plan", 1, 20), *_runs("ask", 18, 20)])
@example(runs=[*_runs("guess", 60, 150), *_runs("plan", 30, 150)])
def test_words_multiplier_rank_and_warning_agree(ask, runs):
    """On the prompt, in lists, details and explanations, over HTTP and MCP, and on the page."""
    _check(ask(runs))


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ([*_runs("guess", 9, 21, **_QUICK), *_runs("plan", 6, 20, **_QUICK)], ("candidate", False)),
        (_runs("guess", 9, 21, **_QUICK), ("deprecated", False)),
        (_runs("guess", 5, 20, **_QUICK), ("deprecated", True)),
        (_runs("guess", 19, 20, **_SLOW), ("proven", False)),
    ],
)
def test_a_quick_failure_proves_nothing_and_a_slow_success_warns_of_nothing(ask, runs, said):
    """What the outcomes scored has no part in it; 15 of 20 failed is an anti-pattern."""
    guess = ask(runs).listed["guess"]
    assert (guess["state"], guess["is_negative"]) == said
