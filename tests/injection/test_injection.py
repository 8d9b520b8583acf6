"""No stranger's words give an agent orders: a corpus through every text path into what agents read.

What counts is whether the order in a string can be read word for word, whatever stands between its
letters. Where an outsider chooses the words (errors, results of tools, triggers, names of tools),
no more than ten of the corpus may; what agents write themselves stands quoted as an agent's.
"""

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial
from uuid import uuid4

import msgspec
import pytest

import trackrecord
from tests.injection.corpus import (
    CONTROL,
    Injection,
    can_be_read,
    genuine,
    held_out,
    injections,
    letters,
)
from tests.injection.paths import (
    AGENTS,
    CORPUS,
    OUTSIDERS,
    PATHS,
    TASKS,
    project_of,
    projects_of,
)
from tests.injection.taught import InjectedFleet, recorded
from tests.support.processes import until
from trackrecord.artifacts.contents import StoredPart
from trackrecord.artifacts.summary.summaries import describe, summary
from trackrecord.inflight.errors import TaskError, TaskInFlight
from trackrecord.inflight.retry_text import error_lines, retry_text
from trackrecord.inflight.rules import ErrorRules
from trackrecord.learning.advice.lessons.wording import error_text
from trackrecord.learning.advice.runs.failures import error_template
from trackrecord.learning.competences.texts import under_other_conditions
from trackrecord.learning.text.error_summary import error_summary
from trackrecord.learning.text.inert import identifier
from trackrecord.learning.text.language import Language
from trackrecord.learning.text.redaction import redacted
from trackrecord.prompt.candidates.sections import SECTIONS
from trackrecord.prompt.reading import client as rankings_client
from trackrecord.prompt.reading.client import RankingsReader, given_readers
from trackrecord.settings.settings import Settings
from trackrecord_capture.live.hook_answers import HookAnswers, HookPost, attributed
from trackrecord_door.mcp_server import calls
from trackrecord_door.mcp_server.arguments import RecallArguments
from trackrecord_producers.attempts import inflight_reader
from trackrecord_producers.attempts.inflight_reader import InFlightReader
from trackrecord_worker.app import create_app
from trackrecord_worker.services import Services

# To learn the corpus takes minutes on a busy machine.
pytestmark = pytest.mark.timeout(1200)

MOST_READABLE = 10
# What a template of chats, a renderer of Markdown or HTML, or a heading of ours would act on.
STRUCTURE = re.compile(r"<\||\|>|<[A-Za-z/!?]|\[/?INST\]|!\[|\]\(|```|https?://")
HEADINGS = frozenset(
    {
        *(each.headings["en"].partition("\n")[0] for each in SECTIONS.values()),
        "## Strategies That Failed",
    }
)
NUMBERS = range(len(CORPUS))


def tell(figure: str) -> None:
    """Print a figure when the tests run with `-s`."""
    sys.stdout.write(f"{figure}\n")


WHOLE = injections()


def readable(shown: Callable[[str], str], strings: Sequence[Injection] = WHOLE) -> list[str]:
    """Return the orders that can be read in what is made of each string by itself."""
    return [each.order for each in strings if can_be_read(each.order, shown(each.text))]


def of_error(message: str) -> TaskInFlight:
    return TaskInFlight((TaskError("e1", "tool_failure", message, 1.0),), 0)


def as_artifact(text: str) -> str:
    data = (f"{text}\n" + "line\n" * 40 + text).encode("utf-8", "replace")
    return summary("ab" * 32, describe(data, StoredPart(data)), 500)


RULES = ErrorRules()
# By path: how a string that an outsider chose is shown to an agent.
SHOWN: dict[str, Callable[[str], str]] = {
    "an error in a lesson": lambda text: error_text(error_template(text)),
    "an error as it was before it is a template": error_text,
    "error_context: message": lambda text: retry_text(of_error(text), RULES),
    "context(): message": lambda text: str(error_lines(of_error(text).errors, "en")),
    "error_context: everything else": lambda text: retry_text(
        TaskInFlight(
            (TaskError("e1", "unknown", "m", 1.0, stack_trace=text, tool_name=text, context=text),)
        ),
        RULES,
    ),
    "the output of a tool": as_artifact,
    "a name": identifier,
    "the name of a project": lambda name: attributed("## Memories\n- x", name),
    "a condition": lambda text: under_other_conditions([(text, text)]),
}


@pytest.mark.parametrize("path", SHOWN)
def test_of_what_an_outsider_chooses_hardly_an_order_can_be_read(path):
    """Of more than 300 strings, and of those that no rule was tuned on."""
    assert len(WHOLE) >= 300
    assert len(held_out()) >= 100
    for strings in (WHOLE, held_out()):
        found = readable(SHOWN[path], strings)
        count = len(found)
        tell(f"{path}: {count} of {len(strings)} readable")
        assert count <= MOST_READABLE


def test_the_measure_finds_what_stands_there():
    """Each order stands in its own string; and the reduction is not to say nothing at all."""
    assert all(can_be_read(each.order, each.text) for each in (*WHOLE, *held_out()))
    assert len(readable(lambda text: f"x {text} y")) == len(WHOLE)


@pytest.mark.parametrize(
    ("shown", "most_lost"),
    [
        (lambda text: error_text(error_template(text)), (5, 2)),
        (lambda text: error_summary(text, most_phrases=2, keeps_quoted=True), (1, 0)),
    ],
    ids=["in a lesson", "for a retry"],
)
def test_of_genuine_errors_the_part_that_tells_stays(shown, most_lost):
    """Errors of real tools, half of which no rule was tuned on; few lose what tells."""
    tuned, untuned = genuine()
    assert len(tuned) >= 40
    assert len(untuned) >= 50
    for strings, most in zip((tuned, untuned), most_lost, strict=True):
        lost = [each for each in strings if letters(each.order) not in letters(shown(each.text))]
        tell(f"{len(strings) - len(lost)} of {len(strings)} genuine errors still tell")
        assert len(lost) <= most, [each.text for each in lost]


# By path, each line that an agent may be shown: what agents wrote stands quoted, and is theirs.
LESSON = r"- `[^`]+`(?:, called by [^,]+,)? (?:failed|never|succeeded) .*|- runs .*"
QUOTED = r'"[^"]*"'
TRIED = r"(?: \((?:little known, )?worth trying\))?"
PROCEDURE = rf"- (?:when {QUOTED}: )?[^\[\]\"]+ \[[^\[\]]*\]{TRIED}"
PAST_TASK = rf"- {QUOTED} \[[^\[\]]*\](?: ×[0-9]+)?"
STRATEGY = (
    rf"- (?:AVOID: )?an agent's strategy {QUOTED}"
    rf"(?:\. Failed [0-9/]+ times \(.*| \[[^\[\]]*\]{TRIED})"
)
MEMORY = rf"- an agent noted: {QUOTED} \[confidence [0-9.]+\]"
OF_OUTSIDERS = re.compile(f"{LESSON}|{PROCEDURE}|{PAST_TASK}")
OF_AGENTS = re.compile(f"{LESSON}|{PROCEDURE}|{PAST_TASK}|{STRATEGY}|{MEMORY}")


# --- everything that a worker learns, and what agents are shown of it


def as_prompt(settings: Settings) -> Callable[[str], str]:
    reader = RankingsReader(settings)
    return lambda project: reader.read(project=project, budget=None).prompt


def as_session_start(settings: Settings) -> Callable[[str], str]:
    answers = HookAnswers(settings, settings.hooks, lambda folder: folder[1:], lambda _: None)

    def read(project: str) -> str:
        asked = HookPost("SessionStart", f"s-{project}", f"/{project}")
        return answers.answer("codex", asked)

    return read


# What an agent is handed that asks for nothing: the rankings of a whole project.
PUSHED = {"rankings()": as_prompt, "SessionStart": as_session_start}
# Where a string's line is known again in a project's rankings.
ROW = {
    "error": r"- `tool_([0-9]+)` failed in all 9 calls",
    "trigger": r"read → edit_([0-9]+) \[",
    "hand": r"edit_([0-9]+) → ",
    "strategy": r"- an agent's strategy \"([0-9]+)[ \"]",
    "warning": r"- AVOID: an agent's strategy \"([0-9]+)[ \"]",
}
# Strings that are a secret's but for the same words: as triggers they are one, for which several
# procedures worked equally well, so that none is told.
SAFE = Counter(redacted(each.text) for each in CORPUS)
RIVALS = frozenset(n for n in NUMBERS if SAFE[redacted(CORPUS[n].text)] > 1)
# What is nothing about a project as a whole: a task finds it, or its retry does.
LEARNT = tuple(path for path in PATHS if path not in (*TASKS, "transcript", "flight"))


# Nothing is known that mends what other agents' calls fail with: only a task that names it is told.
UNASKED = tuple(path for path in LEARNT if path != "actor")


@pytest.mark.parametrize("path", UNASKED)
@pytest.mark.parametrize("reader", PUSHED)
def test_what_was_learnt_of_strangers_words_gives_no_orders(learnt, reader, path):
    """Of every string, by every path, in whatever an agent is handed without asking."""
    read = PUSHED[reader](learnt.settings)
    shown = {project: read(project) for project in projects_of(path)}
    assert all("- " in text for text in shown.values())
    if reader == "rankings()":
        told = [n for n in NUMBERS if path != "trigger" or n not in RIVALS]
        of_project = {
            project: sum(project_of(path, n) == project for n in told) for project in shown
        }
        assert {name: text.count("\n- ") for name, text in shown.items()} == of_project
        if path in ROW:
            rows = re.findall(ROW[path], "\n".join(shown.values()))
            assert set(map(int, rows)) == set(told)
    check(path, reader, [shown[project_of(path, number)] for number in NUMBERS])


def check(path: str, reader: str, shown: Sequence[str]) -> None:
    """Of what an agent reads of each string: hardly an order, no structure, and our lines alone."""
    assert len(shown) == len(CORPUS)
    found = [
        each.order
        for each, text in zip(CORPUS, shown, strict=True)
        if can_be_read(each.order, text)
    ]
    lines = sorted({line for text in shown for line in text.splitlines()})
    tell(f"{path} in {reader}: {len(found)} of {len(CORPUS)} readable, in {len(lines)} lines")
    assert len(found) <= (MOST_READABLE if path in OUTSIDERS else len(CORPUS)), found
    # A secret is replaced by these words of ours.
    shown_lines = [line.replace("<secret>", "") for line in lines]
    assert [line for line in shown_lines if CONTROL.search(line) or STRUCTURE.search(line)] == []
    if "Chinese" in reader:
        return
    # What a person promoted is an agent's strategy, with a name of our own.
    own = OF_OUTSIDERS if path in OUTSIDERS and path != "hand" else OF_AGENTS
    entries = [line for line in shown_lines if line.startswith(("- ", "#"))]
    assert [line for line in entries if not own.fullmatch(line) and line not in HEADINGS] == []


def ask_rankings(learnt: InjectedFleet, language: Language = "en") -> Callable[[str, str], str]:
    reader = RankingsReader(learnt.settings)

    def ask(project: str, task: str) -> str:
        return reader.read(project=project, task=task, budget=None, lang=language).prompt

    return ask


def ask_context(learnt: InjectedFleet) -> Callable[[str, str], str]:
    reader = RankingsReader(learnt.settings)

    def ask(project: str, task: str) -> str:
        with given_readers.within(reader):
            return trackrecord.context(project, task, budget=None).prompt

    return ask


def ask_hook(learnt: InjectedFleet) -> Callable[[str, str], str]:
    settings = learnt.settings
    answers = HookAnswers(settings, settings.hooks, lambda folder: folder[1:], lambda _: None)

    def ask(project: str, task: str) -> str:
        asked = HookPost("UserPromptSubmit", uuid4().hex, f"/{project}", prompt=task)
        return answers.answer("codex", asked)

    return ask


def ask_mcp(learnt: InjectedFleet) -> Callable[[str, str], str]:
    reader = RankingsReader(learnt.settings)

    def ask(project: str, task: str) -> str:
        with given_readers.within(reader):
            said = calls.recall(project, RecallArguments(task=task, budget=8_000), None, "")
        return f"{said.text}\n{msgspec.json.encode(said.document).decode()}"

    return ask


ASKED = {
    "rankings(task)": ask_rankings,
    "rankings(task) in Chinese": partial(ask_rankings, language="zh"),
    "context(task)": ask_context,
    "UserPromptSubmit": ask_hook,
    "MCP": ask_mcp,
}


@pytest.mark.parametrize("reader", ASKED)
def test_what_a_task_is_told_of_transcripts_gives_no_orders(learnt, reader):
    """Of too few runs for a difference a lesson is told all the same: the tool failed."""
    ask, path = ASKED[reader](learnt), "transcript"
    shown = [ask(project_of(path, number), f"use srv:tool_{number}") for number in NUMBERS]
    assert [n for n in NUMBERS if f"- `srv:tool_{n}`" not in shown[n]] == []
    check(path, reader, shown)


def naming(path: str, number: int) -> str:
    """Return a task whose prompt shows a string: lessons are shown for the tools that it names."""
    named = f"use tool_{number}"
    return {"error": named, "actor": named, "tool": f"use {CORPUS[number].text}: not found"}.get(
        path, "the task"
    )


@pytest.mark.parametrize("path", LEARNT)
@pytest.mark.parametrize("reader", ASKED)
def test_what_a_task_is_told_of_its_project_gives_no_orders(learnt, reader, path):
    """Of what is known of a project as a whole, as much as there is room for."""
    ask = cache(ASKED[reader](learnt))
    shown = [ask(project_of(path, number), naming(path, number)) for number in NUMBERS]
    assert [number for number in NUMBERS if "- " not in shown[number]] == []
    check(path, reader, shown)


def test_the_errors_of_a_task_in_flight_give_no_orders(learnt, monkeypatch):
    """A retry is told that there was an error, in words of ours and a few of its own."""
    own = {os.getpid(): InFlightReader(learnt.settings)}
    monkeypatch.setattr(inflight_reader, "_readers", own)
    monkeypatch.setattr(rankings_client, "_readers", {os.getpid(): RankingsReader(learnt.settings)})
    retries, contexts = [], []
    for number in NUMBERS:
        project, task_id = project_of("flight", number), f"flight-{number}"
        retries.append(trackrecord.error_context(task_id, project=project))
        contexts.append(trackrecord.context(project, task_id=task_id, budget=None).prompt)
    assert [text for text in (*retries, *contexts) if text.count("\n") < 2] == []
    for reader, texts in (("error_context()", retries), ("context()", contexts)):
        found = [
            each.order
            for each, text in zip(CORPUS, texts, strict=True)
            if can_be_read(each.order, text)
        ]
        tell(f"flight in {reader}: {len(found)} of {len(CORPUS)} readable")
        assert len(found) <= MOST_READABLE
        assert [
            t for t in texts if CONTROL.search(t) or STRUCTURE.search(t.replace("<secret>", ""))
        ] == []


def test_a_session_starts_without_the_words_that_one_agent_reported(learnt):
    """An error's words stand there once two agents met it; how often the tool failed, always."""
    (lone, both) = (
        f"- `book` failed in all 9 calls, in 9 tasks{end}; `wait`, which took its place in 9 runs, "
        "worked in all 9 calls"
        for end in ("", ": no seats left")
    )
    for project, agents in (("one-agent", ["codex"] * 9), ("two-agents", [*AGENTS] * 3)):
        teach(
            learnt,
            project,
            [
                {
                    "task_id": f"{project}-{n}",
                    "source": agent,
                    "success": False,
                    "tool_graph": [
                        {"tool": "book", "ok": False, "error": "no seats left", "args": {"n": n}},
                        {"tool": "wait", "ok": True, "args": {"n": n}},
                        {"tool": "done", "ok": True},
                    ],
                }
                for n, agent in enumerate(agents)
            ],
        )
    start, prompt = as_session_start(learnt.settings), as_prompt(learnt.settings)
    assert lone in start("one-agent").splitlines()
    assert both in start("two-agents").splitlines()
    assert both in prompt("one-agent").splitlines()


def teach(learnt: InjectedFleet, project: str, bodies: list[dict[str, object]]) -> None:
    """Have the workers learn outcomes, and count their advice."""
    worker = Services(learnt.settings, create_app(learnt.settings))
    for body in bodies:
        data = msgspec.json.encode(body | {"project": project})
        worker.redis.xadd(learnt.settings.keys.outcomes, {"v": "1", "body": data})
    until(lambda: recorded(worker, project) == len(bodies))
    worker.adviser.advise(project)
    worker.refresher.refresh(project)
    worker.redis.close()
    worker.engine.dispose()
