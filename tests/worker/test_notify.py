"""Notifications: at least once, tried again, and nobody waits for them."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import msgspec
import psutil
import pytest
import redis

from tests.support.changed_settings import changed
from tests.worker.working import body, log_lines, process, publish, until
from trackrecord.errors import EndpointAway, SettingsError
from trackrecord.redis.client import agent_client
from trackrecord.resources.operation.news import News, NewsKind
from trackrecord.settings.notify_settings import EVENTS, NotifySettings
from trackrecord.settings.settings import Settings, load_settings
from trackrecord_worker.notify.command import MessageRefused, tell
from trackrecord_worker.notify.detect import NewsDetector
from trackrecord_worker.notify.outbox import Outbox
from trackrecord_worker.notify.sending import GIVE_UP_AFTER_S, Sender
from trackrecord_worker.services import Services
from trackrecord_worker.up.daemon import Daemon, beat_command


class Program:
    """A program that notes what it is told, and how it behaves meanwhile.

    Args:
        folder: an empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self._told = folder / "told"
        self._hangs = folder / "hangs"
        self._refused = folder / "refused"
        self._path = folder / "tell.sh"
        self._path.write_text(f"""#!/bin/sh
body=$(cat)
while [ -e "{self._hangs}" ]; do sleep 0.02; done
if [ -e "{self._refused}" ]; then
  case "$body" in *"$(cat "{self._refused}")"*) exit 1;; esac
fi
printf '%s %s\\n' "$MESSAGE_ID" "$body" >> "{self._told}"
""")
        self.is_there(is_there=True)
        # An argument may be a secret.
        self.command = [str(self._path), "token=hunter2hunter2"]

    def is_there(self, *, is_there: bool) -> None:
        """Let it be a program, or a file that cannot be started."""
        self._path.chmod(0o700 if is_there else 0o600)

    def hang(self, *, hangs: bool) -> None:
        """Let it wait with what it is told, or go on."""
        if hangs:
            self._hangs.touch()
        else:
            self._hangs.unlink(missing_ok=True)

    def refuse(self, text: str) -> None:
        """Let it refuse the messages that hold a text."""
        self._refused.write_text(text)

    @property
    def told(self) -> list[tuple[str, dict[str, Any]]]:
        """The messages that it got, in order, each with its id."""
        lines = self._told.read_text().splitlines() if self._told.exists() else []
        parts = [line.partition(" ") for line in lines]
        return [(message_id, msgspec.json.decode(body)) for message_id, _, body in parts]

    @property
    def subjects(self) -> list[str]:
        """The subjects of what it was told, in order."""
        return [document["data"]["subject"] for _, document in self.told]


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    folder = tmp_path / "program"
    folder.mkdir()
    made = Program(folder)
    yield made
    made.hang(hangs=False)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[IO[bytes]]:
    with (tmp_path / "worker.log").open("ab") as file:
        yield file


def with_notify(settings: Settings, **notify: Any) -> Settings:
    return changed(settings, notify=notify)


def news(number: int = 0, kind: NewsKind = NewsKind.PROVEN, at: float = 100.0) -> News:
    return News(kind, at, f"Number {number} became proven.", "default", f"p{number}", {})


def outbox_of(client: redis.Redis, settings: Settings, *told: News) -> Outbox:
    outbox = Outbox(client, settings.keys)
    outbox.add("default", told, kept_since=0.0)
    return outbox


def test_every_kind_of_news_is_an_event_that_can_be_chosen():
    """The settings name them all."""
    assert set(EVENTS) == {kind.value for kind in NewsKind}


@pytest.mark.parametrize(
    ("notify", "said"),
    [
        ({"command": [""]}, "command must be"),
        ({"command": ["bin/tell"]}, "absolute path"),
        ({"events": ["pattern.provn"]}, "pattern.provn"),
        ({"timeout_s": 0}, "timeout_s"),
    ],
)
def test_what_cannot_be_set(home, notify, said):
    """One line that names the setting."""
    with pytest.raises(SettingsError, match="notify") as raised:
        load_settings(home=home, notify=notify)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_news_of_a_running_daemon_reach_the_command(home: Path, log: IO[bytes], program: Program):
    """Each once; a command that hangs keeps no outcome waiting; its arguments are not logged."""
    settings = load_settings(
        home=home, worker_concurrency=1, notify={"command": program.command, "timeout_s": 60}
    )
    program.hang(hangs=True)
    with Daemon(settings, log=log), agent_client(settings) as client:
        # News count from the first look on.
        until(lambda: client.exists(settings.keys.notifications_since))
        publish(client, settings, *(body(n) for n in range(6)), b"not JSON")
        outbox = Outbox(client, settings.keys)
        until(lambda: outbox.count() == 2)
        publish(client, settings, *(body(n) for n in range(10, 30)))
        until(lambda: client.xlen(settings.keys.outcomes) == 0)
        assert not program.told
        program.hang(hangs=False)
        until(lambda: outbox.count() == 0)
    told = {document["type"]: document["data"] for _, document in program.told}
    assert sorted(told) == ["dead-letters.grew", "pattern.proven"]
    assert len(program.told) == 2
    assert told["pattern.proven"]["project"] == "default"
    assert "became proven" in told["pattern.proven"]["text"]
    assert "hunter2" not in Path(log.name).read_text()


def test_beat_that_is_killed_while_it_tells_tells_again(
    settings: Settings, redis_server: object, client: redis.Redis, program: Program,
    tmp_path: Path,
):  # fmt: skip
    """With the same id, by which the receiver recognises what it knows."""
    settings = with_notify(settings, command=program.command, timeout_s=60)
    outbox = outbox_of(client, settings, news(0))
    program.hang(hangs=True)
    first_log, second_log = tmp_path / "first.log", tmp_path / "second.log"
    with process(beat_command(settings), settings, first_log) as beat:
        lock = settings.keys.notification_lock
        until(lambda: client.exists(lock))
        psutil.Process(beat.pid).send_signal(signal.SIGKILL)
    client.delete(lock)  # which ends by itself after two minutes
    program.hang(hangs=False)
    with process(beat_command(settings), settings, second_log):
        until(lambda: outbox.count() == 0)
    assert set(program.subjects) == {"p0"}
    assert len({message_id for message_id, _ in program.told}) == 1


def test_what_was_found_twice_is_told_once(settings, redis_server, client):
    """However many workers look, and after a look that ended half way."""
    outboxes = [Outbox(client, settings.keys) for _ in range(4)]
    told = [news(n) for n in range(50)]
    threads = [
        threading.Thread(target=each.add, args=("default", told), kwargs={"kept_since": 0.0})
        for each in outboxes
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outboxes[0].count() == 50
    assert outboxes[0].add("other", told[:1], kept_since=0.0) == 1
    assert outboxes[0].add("default", [news(0, at=101.0)], kept_since=0.0) == 1


def test_a_program_that_is_missing_is_tried_again(settings, redis_server, client, program):
    """Less and less often; what waits is told in its order when it is back."""
    settings = with_notify(settings, command=program.command)
    outbox = outbox_of(client, settings, *(news(n) for n in range(3)))
    sender = Sender(client, settings)
    program.is_there(is_there=False)
    assert sender.send_due() == 0
    pauses = []
    for _ in range(12):
        pauses.append(sender._pause_s)
        sender._resume_at = 0.0
        assert sender.send_due() == 0
    assert pauses[:9] == sorted(pauses[:9])
    assert 5 <= pauses[0] < 10
    assert pauses[-1] < 2 * 3600
    program.is_there(is_there=True)
    assert sender.send_due() == 0, "it is not tried before its time"
    sender._resume_at = 0.0
    assert sender.send_due() == 3
    assert program.subjects == ["p0", "p1", "p2"]
    assert outbox.count() == 0


def test_a_message_that_is_refused_does_not_hold_up_the_others(
    settings, redis_server, client, program, capsys, caplog
):
    """It is tried again later, and given up after days: the log says so, without its words."""
    settings = with_notify(settings, command=program.command)
    outbox = outbox_of(client, settings, *(news(n) for n in range(3)))
    program.refuse('"subject":"p0"')
    sender = Sender(client, settings)
    assert sender.send_due() == 2
    (left,) = outbox.waiting()
    assert sender.send_due() == 0
    old = f"{int((time.time() - GIVE_UP_AFTER_S - 60) * 1000)}-0"
    client.delete(settings.keys.notifications)
    client.xadd(settings.keys.notifications, {"body": left.body}, id=old)
    caplog.clear()
    assert sender.send_due() == 0
    assert outbox.count() == 0
    assert sender._refused.keys() == {left.entry_id}  # what was given up is not remembered
    # Where it goes, and whether to both, depends on which test of the process first set up logs.
    said = caplog.text + "".join(capsys.readouterr())
    lines = [each for each in said.splitlines() if "notification_given_up" in each]
    assert lines
    for line in lines:
        assert "pattern.proven" in line
        assert "p0" not in line
        assert "became proven" not in line


def test_one_sender_at_a_time(settings, redis_server, client, program):
    """Two beats do no harm; when the first one is gone, the second goes on."""
    settings = with_notify(settings, command=program.command)
    outbox = outbox_of(client, settings, news(0))
    first, second = Sender(client, settings), Sender(client, settings)
    assert first.send_due() == 1
    outbox.add("default", [news(1)], kept_since=0.0)
    assert second.send_due() == 0
    first.give_back()
    assert second.send_due() == 1


def test_a_command_that_hangs_is_killed_with_what_it_started(tmp_path):
    """Nothing piles up, and the next one is started."""
    mark = tmp_path / "pid"
    command = ("sh", "-c", f'sleep 1000 & echo $! > "{mark}"; wait')
    with pytest.raises(EndpointAway, match="killed"):
        tell(NotifySettings(command, timeout_s=1.0), "msg_1", b"{}")
    pid = int(mark.read_text())
    until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie")


def test_a_command_that_ended_is_reaped_after_its_group_is_killed(monkeypatch):
    """Before that nobody else can have its id."""
    seen = []
    kill = os.killpg
    monkeypatch.setattr(
        os, "killpg", lambda pid, sign: (seen.append(psutil.Process(pid).status()), kill(pid, sign))
    )
    tell(NotifySettings(("true",), timeout_s=60.0), "msg_1", b"{}")
    assert seen == [psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["/no/such/program"], "cannot be started"),
        (["sh", "-c", "exit 7"], "status 7"),
        (["sh", "-c", "echo 'password=hunter2hunter2' >&2; exit 1"], "status 1"),
        (["sh", "-c", "printf '\\033[31mred' >&2; exit 1"], "x1b"),
    ],
)
def test_what_a_command_can_do_wrong(words, said):
    """One line says it, without secrets and without control characters."""
    with pytest.raises((MessageRefused, EndpointAway)) as raised:
        tell(NotifySettings(tuple(words)), "msg_1", b"x" * 1_000_000)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "hunter2" not in str(raised.value)
    assert "\033" not in str(raised.value)


def test_only_the_events_that_are_wanted(worker_of, store_settings, client):
    """And of every project, each piece once; what happened before the first look is not told."""
    settings = with_notify(store_settings, command=["true"], events=["pattern.warning"])
    stages: Services = worker_of(settings)
    detector = NewsDetector(stages.engine, client, settings)
    assert detector.detect() == 0
    for project in ("a", "b"):
        bad = {"success": False, "error_count": 9, "retry_count": 9, "project": project}
        publish(client, settings, *(body(n, project=project) for n in range(6)))
        stages.drain.run()
        publish(client, settings, *(body(n, **bad) for n in range(10, 40)))
        stages.drain.run()
    assert detector.detect() == 2
    assert detector.detect() == 0
    waiting = Outbox(client, settings.keys).waiting()
    projects = [msgspec.json.decode(each.body)["data"]["project"] for each in waiting]
    assert sorted(projects) == ["a", "b"]


def test_dead_letters_are_told_together(worker_of, store_settings, client):
    """Once a minute at most, with the reasons; further ones when they come."""
    settings = with_notify(store_settings, command=["true"])
    stages: Services = worker_of(settings)
    detector = NewsDetector(stages.engine, client, settings)
    for number in range(45):
        client.xadd(settings.keys.dead, {"reason": f"reason {number % 5}", "body": "x"})
    now = time.time()
    assert detector.detect(now) == 1
    client.xadd(settings.keys.dead, {"reason": "another one", "body": "x"})
    assert detector.detect(now + 1) == 0
    assert detector.detect(now + 61) == 1
    first, second = (
        msgspec.json.decode(each.body)["data"] for each in Outbox(client, settings.keys).waiting()
    )
    assert first["numbers"] == {"dead_letters": 45}
    assert "45 new dead letters" in first["text"]
    assert "2 further reasons" in first["text"]
    assert "1 × another one" in second["text"]


def test_an_outbox_has_a_bound(settings, redis_server, client):
    """Nobody takes anything for months: the oldest goes, and the log says so."""
    outbox = Outbox(client, settings.keys)
    with client.pipeline() as pipe:
        for _ in range(10_000):
            pipe.xadd(settings.keys.notifications, {"body": "{}"})
        pipe.execute()
    outbox.add("default", [news(n) for n in range(5)], kept_since=0.0)
    assert outbox.count() == 10_000


def test_a_secret_in_the_news_is_not_told(settings, redis_server, client):
    """Agents' texts may hold one."""
    text = "The pattern 'use password=hunter2hunter2' became proven."
    told = News(NewsKind.PROVEN, 1.0, text, "default", "x", {})
    (waiting,) = outbox_of(client, settings, told).waiting()
    assert b"hunter2" not in waiting.body


def test_the_process_of_beat_starts_without_redis(settings, tmp_path):
    """And tells when it is there: no more than a line in the log meanwhile."""
    settings = with_notify(
        load_settings(home=settings.home, redis_url="redis://127.0.0.1:1/0"), command=["true"]
    )
    log_file = tmp_path / "beat.log"
    with process(beat_command(settings), settings, log_file):
        until(lambda: log_lines(log_file, "redis_unavailable"))
    assert os.path.getsize(log_file) < 100_000  # noqa: PTH202 - as short as it gets
