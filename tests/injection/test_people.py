"""What people and programs are shown of strangers' words stays text: no markup, no row, no line.

They read it whole, unlike agents: it must arrive, and must not be taken for anything else.
"""

import json
import os
import pty
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as plain_text

from tests.injection.corpus import CONTROL, letters
from tests.injection.paths import (
    CALM,
    CORPUS,
    NAMES,
    ORDERS,
    PATHS,
    project_of,
    projects_of,
)
from tests.support.no_tls import NO_TLS
from trackrecord.learning.text.inert import one_line, visible
from trackrecord.learning.text.redaction import redacted
from trackrecord_cli.main import run as run_command
from trackrecord_door import page as page_package
from trackrecord_door.page.rendering import HEADERS

# To learn the corpus takes minutes on a busy machine.
pytestmark = pytest.mark.timeout(1200)

# --- the page


class Read(HTMLParser):
    """A page: its words, its elements with their attributes, and where its links lead."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self.elements: set[tuple[str, str]] = set()
        self.links: list[str] = []
        self.pages: list[str] = []
        self.feed(html)
        self.close()
        self.text = letters(" ".join(self.words))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements |= {(tag, ""), *((tag, name) for name, _ in attrs)}
        if tag == "style" or (tag == "script" and "src" not in dict(attrs)):
            self.elements.add(("inline", tag))
        self.words += [value for _, value in attrs if value]
        self.links += [
            value or "" for name, value in attrs if name in ("href", "src", "action", "formaction")
        ]

        self.pages += [value or "" for name, value in attrs if (tag, name) == ("a", "href")]

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def handle_comment(self, data: str) -> None:
        self.elements.add(("<!--", data))

    def handle_decl(self, decl: str) -> None:
        self.elements.add(("<!", decl))


LISTS = ("runs", "patterns", "lessons", "procedures", "memories", "criteria", "dead-letters")
VIEWS = ("", *LISTS, "prompt", "effect")
# So many entries of a list are opened, each at its link.
OPENED = 4


class Visitor:
    """A visitor who looks at pages, and notes foreign content."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http
        self._cursors: set[str] = set()
        self.elements: set[tuple[str, str]] = set()

    def look(self, address: str) -> Read:
        """Return a page, which has our policy and links to our own pages alone."""
        answer = self._http.get(address)
        assert answer.status_code == 200, (address, answer.text)
        assert answer.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]
        page = Read(answer.text)
        self.elements |= page.elements
        assert [link for link in page.links if not re.match(r"/(?!/)|#|\?", link)] == [], address
        return page

    def look_around(self, project: str) -> None:
        """Look at each view of a project, and at some entries of its lists."""
        for view in VIEWS:
            self.read(view, project)

    def read(self, view: str, project: str) -> str:
        """Return the words of all pages of a list, and of some of its entries."""
        self._cursors.clear()
        return "".join(self._pages(view, project))

    def _pages(self, view: str, project: str) -> Iterator[str]:
        address, opened = f"/{view}?project={quote(project, safe='')}", list[str]()
        while address:
            page = self.look(address)
            yield page.text
            opened += [link for link in page.pages if link.startswith(f"/{view}/")]
            further = [link for link in page.pages if link.startswith(f"/{view}?")]
            address = next((link for link in further if self._goes_on(link)), "")
        for link in list(dict.fromkeys(opened))[:OPENED] if view else ():
            yield self.look(link).text

    def _goes_on(self, link: str) -> bool:
        """Return whether a link leads to the next page of a list, and not back."""
        cursor = re.search(r"cursor=([^&]+)", link)
        is_new = cursor is not None and cursor[1] not in self._cursors
        if cursor is not None:
            self._cursors.add(cursor[1])
        return is_new


@pytest.fixture(scope="module")
def http(learnt) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=learnt.url, verify=NO_TLS, timeout=60) as client:
        yield client


def of_templates() -> set[tuple[str, str]]:
    """Return the elements that our templates and drawings write, with their attributes."""
    folder = Path(page_package.__file__).parent
    written = [
        found
        for each in (*folder.rglob("*.html"), *folder.glob("drawings/*.py"))
        for found in re.findall(
            r"<([a-z0-9]+)((?:[^<>{}]|\{\{.*?\}\}|\{%.*?%\})*)>", each.read_text()
        )
    ]
    return {
        (tag, name) for tag, rest in written for name in ("", *re.findall(r" ([a-z-]+)=", rest))
    }


# What our own drawings are made of.
DRAWN = frozenset({
    "svg", "g", "text", "tspan", "path", "rect", "line", "circle", "ellipse", "polygon", "polyline",
    "title", "desc", "defs", "marker", "a",
})  # fmt: skip


def foreign(elements: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the elements and attributes that no template of ours and no drawing of ours has."""
    others = elements - of_templates()
    return {
        (tag, name)
        for tag, name in others
        if tag not in DRAWN or name.startswith("on") or name == "style"
    }


def calm_visitor(http: httpx.Client) -> Visitor:
    """Return a visitor who has seen what pages are made of where all texts are harmless."""
    visitor = Visitor(http)
    visitor.look_around(CALM)
    for link in visitor.look(f"/runs?project={CALM}").pages:
        if link.startswith("/runs/"):
            visitor.look(link)
    return visitor


def test_every_page_shows_texts_as_text(http):
    """Nothing but what a page of harmless texts is made of, and each string among its words."""
    calm, hostile = calm_visitor(http), Visitor(http)
    # Of tasks in flight alone nothing is on record.
    for path in set(PATHS) - {"flight"}:
        hostile.look_around(project_of(path, 0))
    for path, view in (("memory", "memories"), ("strategy", "patterns"), ("warning", "patterns")):
        shown = {project: hostile.read(view, project) for project in projects_of(path)}
        assert [
            each.text
            for number, each in enumerate(CORPUS)
            if whole(redacted(each.text)) not in shown[project_of(path, number)]
        ] == []
    assert foreign(hostile.elements - calm.elements) == set()


def whole(text: str) -> str:
    """Return what of a text is looked for: its beginning, as lists cut what is long."""
    # Of names is taken out what a terminal obeys and no screen shows, and a picture's address.
    return letters(re.sub(r"\x1b\].*|\]\(.*|[\U000e0000-\U000e0fff]+", "", text[:60]))


def test_the_page_of_a_run_shows_texts_as_text(http):
    """Whatever a run says of itself, and however it is called."""
    calm, hostile = calm_visitor(http), Visitor(http)
    missing = []
    for number, each in enumerate(CORPUS):
        run = quote(f"{each.text[:100]} {number} 1", safe="")
        page = hostile.look(f"/runs/{run}?project={project_of('other', number)}")
        if whole(each.text) not in page.text:
            missing.append(each.text)
    assert foreign(hostile.elements - calm.elements) == set()
    assert missing == []


# What is decided by hand: strings of every other carrier, as three pages are opened for each.
DECIDED = range(0, len(CORPUS), 2 * ORDERS)


def test_the_pages_of_what_was_decided_show_texts_as_text(http, learnt):
    """Who decided and why, tags, and what somebody stored by hand."""
    calm, hostile = calm_visitor(http), Visitor(http)
    missing = []
    for number in DECIDED:
        for view, name in zip(
            ("patterns", "lessons", "procedures"), learnt.decided[number], strict=True
        ):
            page = hostile.look(f"/{view}/{name}?project={project_of('hand', number)}")
            if whole(CORPUS[number].text) not in page.text:
                missing.append((view, CORPUS[number].text))
    assert missing == []
    for project in projects_of("hand"):
        hostile.look(f"/effect?project={project}")
    assert foreign(hostile.elements - calm.elements) == set()


def test_on_a_terminal_a_decision_is_shown_as_text(learnt, capfd, monkeypatch):
    """Its words are there, begin no line and steer nothing."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(learnt.settings.home))
    missing, forged = [], []
    for number in DECIDED:
        pattern, lesson, record = learnt.decided[number]
        for arguments in (
            ["patterns", "show", pattern],
            ["lessons", "show", lesson],
            ["competences", "show", record],
            ["competences", "history", record],
            ["explain", pattern],
        ):
            run_command([*arguments, "--project", project_of("hand", number)])
            shown, text = capfd.readouterr().out, CORPUS[number].text
            assert CONTROL.search(shown.replace("\t", "")) is None, arguments
            begun = {line.strip() for line in shown.splitlines()}
            forged += [
                line for line in text.splitlines()[1:] if line.strip() and line.strip() in begun
            ]
            if letters(one_line(text, 50).rstrip("…")) not in letters(shown):
                missing.append((arguments, text))
    assert (missing, forged) == ([], [])


# --- tables


COMMANDS = {
    ("patterns", "list", "--limit", "1000"): ("strategy", "warning", "hand"),
    ("memories", "list", "--limit", "1000"): ("memory",),
    ("lessons", "list", "--limit", "1000"): ("error", "tool"),
    ("competences", "list"): ("trigger", "hand"),
    ("runs", "list", "--limit", "1000"): ("other", "task", "transcript", "traces"),
    ("criteria", "list"): ("other",),
    ("errors", "list", "--limit", "1000"): ("flight",),
    ("news", "--limit", "1000"): ("warning", "hand"),
}
OF_ALL = (("projects",), ("dead", "list", "--limit", "1000"))


@pytest.mark.parametrize("command", [*COMMANDS, *OF_ALL], ids=" ".join)
def test_a_table_keeps_its_rows(learnt, capfd, monkeypatch, command):
    """One line for each entry, as many cells as the heading has, and nothing that steers."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(learnt.settings.home))
    tables: list[list[str]] = []
    for path in COMMANDS.get(command, ("",)):
        for project in projects_of(path) if path else ("",):
            run_command([*command, *(("--project", project) if project else ())])
            shown = capfd.readouterr().out
            tables.append(shown.splitlines())
            assert shown.count("\n") == len(tables[-1])
    rows = 0
    for heading, *lines in tables:
        rows += len(lines)
        assert {line.count("\t") for line in lines} <= {heading.count("\t")}
        assert [line for line in lines if CONTROL.search(line.replace("\t", ""))] == []
        cells = [cell for line in lines for cell in line.split("\t")]
        assert [cell for cell in cells if re.match(r"[=@]|[-+](?![\d.])(?!\Z)", cell)] == []
    least = {"projects": len(NAMES)}
    name = " ".join(command).partition(" --")[0]
    assert rows >= least.get(name, 9 * len(CORPUS) // 10), (name, rows)


# --- metrics


@pytest.mark.parametrize("form", ["text/plain", "application/openmetrics-text"])
def test_a_name_forges_no_sample(http, form):
    """Each project has the series that any project has, under its own name; none else is there."""
    answer = http.get("/metrics", headers={"Accept": form})
    assert answer.headers["content-type"].startswith(form)
    parse = open_metrics if "open" in form else plain_text
    samples = [sample for family in parse(answer.text) for sample in family.samples]
    lines = [line for line in answer.text.split("\n") if line and not line.startswith("#")]
    assert len(lines) == len(samples)
    assert [line for line in lines if CONTROL.search(line)] == []
    assert {sample.name for sample in samples if "up" in sample.name} == {"trackrecord_server_up"}
    counted = Counter(
        sample.labels["project"] for sample in samples if sample.name == "trackrecord_outcomes"
    )
    named = {visible(name.replace("\\", "\\\\")) for name in NAMES}
    assert named <= counted.keys()
    assert {project for project in counted if "-" not in project} <= {*named, CALM, "other"}
    assert set(counted.values()) == {3}
    labels = {tuple(sorted(s.labels)) for s in samples if s.name == "trackrecord_outcomes"}
    assert labels == {("project", "verdict")}


# --- logs


def test_one_event_is_one_line_of_the_log(learnt, http):
    """What was learnt, refused, asked for and posted: no text of it begins a line or steers."""
    for each in CORPUS:
        path = quote(each.text, safe="")
        assert http.get(f"/{path}").status_code == 404
        assert http.get(f"/runs/{path}", params={"project": each.text}).status_code >= 400
        http.post(f"/hooks/{path[:200]}", content=each.text.encode())
        http.post(
            "/v1/traces", content=each.text.encode(), headers={"content-type": "application/json"}
        )
    lines = learnt.log.read_bytes().decode().split("\n")
    assert lines.pop() == ""
    # What `up` says itself, and Celery, is no event.
    others = [letters(line) for line in lines if not line.startswith("{")]
    assert [
        each.text for each in CORPUS if any(letters(each.order) in line for line in others)
    ] == []
    events = [json.loads(line) for line in lines if line.startswith("{")]
    assert all({"event", "level", "timestamp"} <= event.keys() for event in events)
    assert {event["event"] for event in events} >= {"learnt", "rankings_refreshed", "batch_learnt"}
    assert {event.get("project") for event in events} >= set(NAMES)
    assert [line for line in lines if CONTROL.search(line)] == []
    said = [
        letters(json.dumps([v for k, v in event.items() if k != "project"])) for event in events
    ]
    assert [
        each.order for each in CORPUS if any(letters(each.order) in text for text in set(said))
    ] == []


# A process that logs, and one that relays the log of a child, both on a terminal.
TELLING = """
import json, logging, os, sys
import structlog
sys.path.insert(0, sys.argv[1])
from tests.injection.paths import CORPUS
from trackrecord.process.logs import configure_logs
from trackrecord_worker.up.log_relay import LogRelay
configure_logs("debug")
reader, writer = os.pipe()
relay = LogRelay(os.fdopen(reader, "rb"), None)
with os.fdopen(writer, "w") as child:
    for each in CORPUS:
        structlog.get_logger("x").info("told", project=each.text)
        logging.getLogger("y").warning("%s", each.text)
        line = {"event": each.text, "level": "info", "timestamp": "2026", "project": each.text}
        print(json.dumps(line), file=child)
relay.finish(60)
"""


def test_on_a_terminal_one_event_is_one_line(tmp_path):
    """Colours of ours, and nothing else that a terminal obeys."""
    ours, theirs = pty.openpty()
    script = tmp_path / "telling.py"
    script.write_text(TELLING)
    process = subprocess.Popen(
        [sys.executable, str(script), str(Path(__file__).parents[2])], stderr=theirs, stdout=theirs
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # its other end is closed
            break
        said += piece
        if not piece:
            break
    os.close(ours)
    assert process.wait(200) == 0
    text = re.sub(r"\x1b\[[0-9;]*m", "", said.decode())
    assert text.count("\r\n") == 3 * len(CORPUS)
    lines = text.replace("\r\n", "\n").splitlines()
    assert len(lines) == 3 * len(CORPUS)
    assert [line for line in lines if CONTROL.search(line)] == []
    assert [line for line in lines if not re.match(r"2026\S* \[(info|warning) ", line)] == []
