"""No stranger's words give an agent orders: a corpus through every text path into what agents read.

What counts is whether the order in a string can be read word for word, whatever stands between its
letters. Where an outsider chooses the words (errors, results of tools, triggers, names of tools),
no more than ten of the corpus may; what agents write themselves stands quoted as an agent's.
"""

import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from corpus import Injection, can_be_read, genuine, held_out, injections, letters

from trackrecord.artifacts.contents import KeptPart
from trackrecord.artifacts.summaries import describe, summary
from trackrecord.inflight.errors import TaskError, TaskInFlight
from trackrecord.inflight.retry_text import error_lines, retry_text
from trackrecord.inflight.rules import ErrorRules
from trackrecord.learning.advice.failures import error_template
from trackrecord.learning.advice.lessons.wording import error_text
from trackrecord.learning.text.error_summary import error_summary
from trackrecord.learning.text.inert import identifier
from trackrecord.prompt.client import RankingsReader, given_readers
from trackrecord.queries.news import News, NewsKind
from trackrecord.settings import Settings, load_settings
from trackrecord_capture.live.handing import HookAnswers, HookQuestion
from trackrecord_capture.live.wording import as_facts
from trackrecord_cli.main import run as run_command
from trackrecord_door.mcp_server import calls
from trackrecord_door.mcp_server.arguments import RecallArguments
from trackrecord_worker import jobs
from trackrecord_worker.app import create_app
from trackrecord_worker.embedded_redis import EmbeddedRedis
from trackrecord_worker.notify.message import encode_message
from trackrecord_worker.services import Services

CORPUS = injections()
MOST_READABLE = 10
# As many entries of each kind as a project's rankings hold.
CHUNK = 90
CHUNKS = range(0, len(CORPUS), CHUNK)
NO_LIMIT = 1_000_000
CONTROL = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]|[\U000e0000-\U000e0fff]"
)
# What a template of chats, a renderer of Markdown or HTML, or a heading of ours would act on.
STRUCTURE = re.compile(r"<\||\|>|<[A-Za-z/!?]|\[/?INST\]|!\[|\]\(|```|https?://")
OWN_LINE = re.compile(r"## |- |\Z|Based on past failures, avoid these strategies:\Z")
AGENTS = ("codex", "claude-code", "opencode")


def tell(figure: str) -> None:
    """Show a figure to whoever runs the tests with `-s`."""
    sys.stdout.write(f"{figure}\n")


def readable(shown: Callable[[str], str], strings: Sequence[Injection] = CORPUS) -> list[str]:
    """Return the orders that can be read in what is made of each string by itself."""
    return [each.order for each in strings if can_be_read(each.order, shown(each.text))]


def of_error(message: str) -> TaskInFlight:
    return TaskInFlight((TaskError("e1", "tool_failure", message, 1.0),), 0)


def as_artifact(text: str) -> str:
    data = (f"{text}\n" + "line\n" * 40 + text).encode("utf-8", "replace")
    return summary("ab" * 32, describe(data, KeptPart(data)), 500)


RULES = ErrorRules()
# By path: how a string that an outsider chose is shown to an agent.
PATHS: dict[str, Callable[[str], str]] = {
    "an error in a lesson": lambda text: error_text(error_template(text)),
    "an error as it was before it is a template": error_text,
    "error_context: message": lambda text: retry_text(of_error(text), RULES),
    "context(): message": lambda text: str(error_lines(of_error(text).errors, RULES, "en")),
    "error_context: everything else": lambda text: retry_text(
        TaskInFlight(
            (TaskError("e1", "unknown", "m", 1.0, stack_trace=text, tool_name=text, context=text),)
        ),
        RULES,
    ),
    "the output of a tool": as_artifact,
    "a name": identifier,
}


@pytest.mark.parametrize("path", PATHS)
def test_of_what_an_outsider_chooses_hardly_an_order_can_be_read(path):
    """Of more than 300 strings, and of those that no rule was tuned on."""
    assert len(CORPUS) >= 300
    assert len(held_out()) >= 100
    for strings in (CORPUS, held_out()):
        found = readable(PATHS[path], strings)
        count = len(found)
        tell(f"{path}: {count} of {len(strings)} readable")
        assert count <= MOST_READABLE


def test_the_measure_finds_what_stands_there():
    """Each order stands in its own string; and the reduction is not to say nothing at all."""
    assert all(can_be_read(each.order, each.text) for each in (*CORPUS, *held_out()))
    assert len(readable(lambda text: f"x {text} y")) == len(CORPUS)


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


def outcomes_of(path: str, number: int, text: str) -> Iterator[dict[str, object]]:
    """Yield the bodies of outcomes that bring a string in by a path, as several agents report."""
    for n, agent in enumerate(AGENTS):
        yield {
            "task_id": f"{path}-{number}-{n}",
            "source": agent,
            **BODIES[path](number, text, n),
        }


BODIES: dict[str, Callable[[int, str, int], dict[str, object]]] = {
    "error": lambda number, text, n: {
        "success": False,
        "tool_graph": [{"tool": f"tool_{number}", "ok": False, "error": text}],
    },
    "tool": lambda number, text, n: {
        "success": False,
        "tool_graph": [{"tool": text, "ok": False, "actor": text, "error": "not found"}],
    },
    "trigger": lambda number, text, n: {
        "success": True,
        "trigger": {"signal": text[:1024], "conditions": {text[:40]: text}},
        "tool_graph": [{"tool": "read", "ok": True}, {"tool": f"edit_{number}", "ok": True}],
    },
    # Every third task goes without, and fails: what others do better with is recommended.
    "strategy": lambda number, text, n: (
        {"success": True, "patterns": [f"{number} {text}"]} if n else {"success": False}
    ),
    # One kind of task, with nothing else that was tried: where all fails alike, nobody is warned.
    "warning": lambda number, text, n: {
        "success": False,
        "patterns": [f"{number} {text}"],
        "trigger": {"signal": f"signal {number}"},
    },
}
OUTSIDERS = ("error", "tool", "trigger")
LESSON = r"- `[^`]+`(?:, called by [^,]+,)? (?:failed|never|succeeded) .*"
QUOTED = r'"[^"]*"'
# By path, each line that an agent may be shown: what agents wrote stands quoted, and is theirs.
TRIED = r"(?: \((?:little known, )?worth trying\))?"
ENTRY = {
    "error": re.compile(rf"{LESSON}|- runs .*|- tool_[0-9]+ \[.*\]"),
    "tool": re.compile(rf"{LESSON}|- runs .*|- [^\[\]\"]+ \[.*\]"),
    "trigger": re.compile(
        rf"- (?:when {QUOTED}: )?read → edit_[0-9]+ \[[^\[\]]*\]{TRIED}|- runs .*"
    ),
    "strategy": re.compile(rf"- an agent's strategy {QUOTED} \[[^\[\]]*\]{TRIED}"),
    "warning": re.compile(
        rf"- (?:AVOID: )?an agent's strategy {QUOTED}"
        rf"(?:\. Failed [0-9/]+ times \(.*| \[[^\[\]]*\]{TRIED})"
    ),
    "memory": re.compile(rf"- an agent noted: {QUOTED} \[confidence [0-9.]+\]"),
}


def project_of(path: str, number: int) -> str:
    return f"{path}-{number // CHUNK}"


def fill(client, settings: Settings) -> list[str]:
    """Put the corpus onto the stream, by each path; return the projects."""
    with client.pipeline(transaction=False) as pipe:
        for number, each in enumerate(CORPUS):
            for path in BODIES:
                project = project_of(path, number)
                for body in outcomes_of(path, number, each.text):
                    data = msgspec.json.encode(body | {"project": project})
                    pipe.xadd(settings.keys.outcomes, {"v": "1", "body": data})
            memory = {"text": each.text, "project": project_of("memory", number), "source": "codex"}
            pipe.xadd(settings.keys.outcomes, {"v": "1", "memory": msgspec.json.encode(memory)})
        pipe.execute()
    return sorted({project_of(path, n) for path in ENTRY for n in range(len(CORPUS))})


# --- everything that a worker learns, and what agents and people are shown of it


@pytest.fixture(scope="module")
def learnt() -> Iterator[Settings]:
    """A trackrecord that has learnt the whole corpus by each path, 90 strings to a project."""
    with tempfile.TemporaryDirectory(prefix="tr-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        settings = load_settings(
            home=home,
            drain_block_s=0.01,
            hooks={"session_tokens": 2000, "prompt_tokens": 2000},
        )
        with (
            EmbeddedRedis(home / "redis", settings.embedded_redis_socket) as server,
            server.client() as client,
        ):
            worker = Services(settings, create_app(settings))
            projects = fill(client, settings)
            worker.drain.run()
            while client.xlen(settings.keys.outcomes):
                worker.drain.run()
            assert client.xlen(settings.keys.dead) == 0
            jobs.consolidate_all_projects(worker)
            for project in projects:
                worker.adviser.advise(project)
                worker.refresher.refresh(project)
            yield settings
            worker.redis.close()
            worker.engine.dispose()


def shown_by_project(read: Callable[[str], str], path: str) -> dict[str, str]:
    """Return what is read of each project of a path."""
    return {project: read(project) for project in {project_of(path, n) for n in range(len(CORPUS))}}


def as_prompt(settings: Settings) -> Callable[[str], str]:
    reader = RankingsReader(settings)
    return lambda project: reader.read(project=project, budget=None).prompt


def as_session_start(settings: Settings) -> Callable[[str], str]:
    answers = HookAnswers(settings, settings.hooks, lambda folder: folder[1:], lambda _: None)

    def read(project: str) -> str:
        asked = HookQuestion("SessionStart", f"s-{project}", f"/{project}")
        return answers.answer("codex", asked)

    return read


def as_recalled(settings: Settings) -> Callable[[str], str]:
    def read(project: str) -> str:
        with given_readers.within(RankingsReader(settings)):
            said = calls.recall(project, RecallArguments(task="the task", budget=8_000), None, "")
        return f"{said.text}\n{msgspec.json.encode(said.document).decode()}"

    return read


READERS = {"rankings()": as_prompt, "SessionStart": as_session_start, "MCP": as_recalled}


@pytest.mark.parametrize("path", ENTRY)
@pytest.mark.parametrize("reader", READERS)
def test_what_was_learnt_of_strangers_words_gives_no_orders(learnt, reader, path):
    """Of every string, by every path, in whatever an agent is handed."""
    shown = shown_by_project(READERS[reader](learnt), path)
    lines = [line for text in shown.values() for line in text.splitlines()]
    found = [
        each.order
        for number, each in enumerate(CORPUS)
        if can_be_read(each.order, shown[project_of(path, number)])
    ]
    tell(f"{path} in {reader}: {len(found)} of {len(CORPUS)} readable, in {len(lines)} lines")
    assert all("- " in text for text in shown.values())
    assert len(found) <= (MOST_READABLE if path in OUTSIDERS else len(CORPUS))
    # A secret is replaced by these words of ours.
    shown_lines = [line.replace("<secret>", "") for line in lines]
    assert [line for line in shown_lines if CONTROL.search(line) or STRUCTURE.search(line)] == []
    entries = [line for line in shown_lines if line.startswith("- ")]
    assert [line for line in entries if not ENTRY[path].fullmatch(line)] == []


def test_a_session_starts_without_the_words_that_one_agent_reported(learnt):
    """An error's words stand there once two agents met it; how often the tool failed, always."""
    (lone, both) = (
        f"- `book` failed in all 3 calls, in 3 tasks{end}" for end in ("", ": no seats left")
    )
    for project, agents in (("one-agent", ["codex"] * 3), ("two-agents", AGENTS)):
        teach(
            learnt,
            project,
            [
                {
                    "task_id": f"{project}-{n}",
                    "source": agent,
                    "success": False,
                    "tool_graph": [{"tool": "book", "ok": False, "error": "no seats left"}],
                }
                for n, agent in enumerate(agents)
            ],
        )
    start, prompt = as_session_start(learnt), as_prompt(learnt)
    assert lone in start("one-agent").splitlines()
    assert both in start("two-agents").splitlines()
    assert both in prompt("one-agent").splitlines()


def teach(settings: Settings, project: str, bodies: list[dict[str, object]]) -> None:
    """Have a worker learn outcomes, and count its advice."""
    worker = Services(settings, create_app(settings))
    for body in bodies:
        data = msgspec.json.encode(body | {"project": project})
        worker.redis.xadd(settings.keys.outcomes, {"v": "1", "body": data})
    worker.drain.run()
    worker.adviser.advise(project)
    worker.redis.close()
    worker.engine.dispose()


LISTS = ("patterns", "memories", "lessons", "competences", "runs")


@pytest.mark.parametrize("kind", LISTS)
def test_a_list_for_a_terminal_or_a_table_keeps_its_rows(learnt, capfd, monkeypatch, kind):
    """One line for each entry, with as many cells as the heading, and nothing that steers."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(learnt.home))
    rows = 0
    for path in ENTRY:
        run_command([kind, "list", "--project", project_of(path, 0)])
        heading, *lines = capfd.readouterr().out.splitlines() or [""]
        rows += len(lines)
        assert {line.count("\t") for line in lines} <= {heading.count("\t")}
        assert [line for line in lines if CONTROL.search(line.replace("\t", ""))] == []
    assert rows >= 20


def test_a_notification_is_one_json_document_whatever_it_quotes():
    """The text of a string arrives as data."""
    for each in CORPUS:
        news = News(NewsKind.PROVEN, 1.0, each.text, each.text, each.text, {})
        data = msgspec.json.decode(encode_message(news))["data"]
        assert data.keys() == {"text", "project", "subject", "numbers"}


def test_the_name_of_a_project_gives_no_orders():
    """Whoever names a repository chooses it."""
    found = readable(lambda name: as_facts("## Memories\n- x", name))
    assert len(found) <= MOST_READABLE
