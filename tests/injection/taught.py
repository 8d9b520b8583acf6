"""A real `trackrecord up` that learns the whole corpus by each path, 90 strings to a project."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
from sqlalchemy import Connection, func, select

from tests.injection.paths import (
    CALM,
    CHUNK,
    CORPUS,
    PATHS,
    practice,
    procedure,
    project_of,
    projects_of,
    put_on_stream,
    runs_of,
    traces_of,
    write_transcripts,
)
from tests.support.no_tls import NO_TLS
from tests.support.own_token import of_its_user
from tests.support.processes import trackrecord_up, until
from trackrecord.learning.competences.new_record import new_record, read_new_competence
from trackrecord.learning.patterns.decisions import DecisionAction
from trackrecord.learning.patterns.tags import checked_tag, plain_tag
from trackrecord.learning.text.inert import one_line
from trackrecord.redis.client import worker_client
from trackrecord.resources.access.project_store import project_row
from trackrecord.resources.declaration.checks import decided_by
from trackrecord.resources.prompt_documents.advice import count_advice
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.advice.effect import HoldoutDecision, decide_holdout
from trackrecord.store.advice.lesson_decisions import LessonAction, LessonDecision, decide_lesson
from trackrecord.store.competences.revise import Reviser, Signed
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.outcomes.tables import outcomes, projects
from trackrecord.store.patterns.decide import change_tags, decide
from trackrecord_worker import jobs
from trackrecord_worker.app import create_app
from trackrecord_worker.services import Services


class InjectedFleet(NamedTuple):
    """A running `trackrecord up`, and what it has learnt.

    Attributes:
        settings: of its processes.
        url: of its front door, with the credential of its user.
        log: what all its processes logged.
        decided: what was decided about by hand: the ids of pattern, lesson and record, by string.
    """

    settings: Settings
    url: str
    log: Path
    decided: dict[int, tuple[str, str, str]]


@contextmanager
def learning_everything() -> Iterator[InjectedFleet]:
    """Yield it when everything is learnt; it is stopped at the end."""
    with tempfile.TemporaryDirectory(prefix="tr-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        log = home / "up.log"
        settings = load_settings(
            home=home,
            log_level="debug",
            hooks={"session_tokens": 2000, "prompt_tokens": 2000},
            http={"port": 0},
        )
        with trackrecord_up({**os.environ, **settings.as_environment()}, log) as address:
            url = of_its_user(address, home)
            yield InjectedFleet(settings, url, log, _teach(settings, url, home))


def _teach(settings: Settings, url: str, home: Path) -> dict[int, tuple[str, str, str]]:
    wanted = sum(len(runs_of(path)) for path in ("traces", "transcript")) * len(CORPUS)
    with worker_client(settings) as client, httpx.Client(base_url=url, verify=NO_TLS) as http:
        for start in range(0, len(CORPUS), CHUNK):
            numbers = range(start, min(start + CHUNK, len(CORPUS)))
            answer = http.post("/v1/traces", json=traces_of("traces", numbers), timeout=60)
            assert answer.status_code == 200, answer.text
        wanted += put_on_stream(client, settings)
        transcripts = str(write_transcripts(home / "transcripts"))
        subprocess.run(
            [sys.executable, "-m", "trackrecord_cli", "import", "claude-code", transcripts],
            env={**os.environ, **settings.as_environment()},
            check=True,
            capture_output=True,
        )
        worker = Services(settings, create_app(settings))
        try:
            until(lambda: recorded(worker) >= wanted)
            until(lambda: not client.xlen(settings.keys.outcomes))
            assert client.xlen(settings.keys.dead) == len(CORPUS)
            decided = _decide_by_hand(worker)
            jobs.consolidate_all_projects(worker)
            for project in (CALM, *(name for path in PATHS for name in projects_of(path))):
                worker.adviser.advise(project)
                worker.refresher.refresh(project)
        finally:
            worker.redis.close()
            worker.engine.dispose()
    return decided


def _decide_by_hand(worker: Services) -> dict[int, tuple[str, str, str]]:
    """Have each string be the tag, the name and the reason of a decision, and a record's name."""
    decided = {}
    for project in projects_of("hand"):
        with writing(worker.engine) as connection:
            advice, _ = count_advice(connection, project, worker.settings.rules, now=time.time())
            lessons = {lesson.tools[0]: lesson.id for lesson in advice.lessons}
            for number, each in enumerate(CORPUS):
                if project_of("hand", number) == project:
                    lesson = lessons[f"tool_{number}"]
                    record = _decide(connection, worker.settings, number, each.text, lesson)
                    decided[number] = practice(number), lesson, record
    return decided


def _decide(connection: Connection, settings: Settings, number: int, text: str, lesson: str) -> str:
    """Decide about a pattern and a lesson, and store a record, whose id is returned."""
    row, now = project_row(connection, project_of("hand", number)), time.time()
    pattern, (actor, reason) = practice(number), decided_by(text[:128], text[:1000])
    tag = checked_tag(one_line(plain_tag(text), 64) or "none")
    change_tags(connection, row, pattern, add=[tag], remove=(), now=now)
    decide(
        connection, row, pattern, DecisionAction.PROMOTE,
        actor=actor, reason=reason, rules=settings.rules, now=now,
    )  # fmt: skip
    decide_holdout(connection, row, HoldoutDecision(0.0, actor, reason, now))
    dismissed = LessonDecision(lesson, LessonAction.DISMISS, actor, reason, now)
    assert decide_lesson(connection, row, dismissed)
    rules = settings.competence
    new = read_new_competence(procedure(number, text), rules)
    reviser = Reviser(connection, row, rules, Signed(actor, reason, now))
    project = project_of("hand", number)
    record = reviser.add(new_record(rules, project, new, by=actor, now=now))
    return reviser.reinforce(record.id).id


def recorded(worker: Services, project: str | None = None) -> int:
    """Return how many outcomes are on record, of one project or of all."""
    wanted = select(func.count()).select_from(outcomes.join(projects))
    if project is not None:
        wanted = wanted.where(projects.c.name == project)
    with reading(worker.engine) as connection:
        return int(connection.execute(wanted).scalar() or 0)
