"""Notifications: at least once, signed, tried again, and nobody waits for them."""

import os
import signal
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import msgspec
import psutil
import pytest
import redis
from told_webhook import SECRET, ToldWebhook
from working import body, log_lines, process, publish, until

from trackrecord.errors import EndpointAway, SettingsError
from trackrecord.notify_settings import EVENTS
from trackrecord.queries.news import News, NewsKind
from trackrecord.redis_client import agent_client
from trackrecord.settings import Settings, load_settings
from trackrecord_worker.notify.channels import CommandChannel, MessageRefused, Webhook
from trackrecord_worker.notify.detect import NewsDetector
from trackrecord_worker.notify.outbox import Outbox
from trackrecord_worker.notify.sending import GIVE_UP_AFTER_S, Sender
from trackrecord_worker.services import Services
from trackrecord_worker.up.daemon import Daemon, beat_command

KEY = b"secret of these tests alone!"


@pytest.fixture
def webhook() -> Iterator[ToldWebhook]:
    with ToldWebhook() as server:
        yield server


@pytest.fixture
def log(tmp_path: Path) -> Iterator[IO[bytes]]:
    with (tmp_path / "worker.log").open("ab") as file:
        yield file


def with_notify(settings: Settings, **notify: Any) -> Settings:
    return load_settings(**settings.model_dump(exclude_unset=True) | {"notify": notify})


def news(number: int = 0, kind: NewsKind = NewsKind.PROVEN, at: float = 100.0) -> News:
    return News(kind, at, f"Number {number} became proven.", "default", f"p{number}", {})


def outbox_of(client: redis.Redis, settings: Settings, *told: News) -> Outbox:
    outbox = Outbox(client, settings.keys)
    outbox.add("default", told, ["webhook"], kept_since=0.0)
    return outbox


def test_every_kind_of_news_is_an_event_that_can_be_chosen():
    """The settings name them all."""
    assert set(EVENTS) == {kind.value for kind in NewsKind}


@pytest.mark.parametrize(
    ("notify", "said"),
    [
        ({"url": "ftp://x/y", "secret": SECRET}, "url must be an http"),
        ({"url": "http://[", "secret": SECRET}, "url must be an http"),
        ({"url": "http://x/y"}, "secret must be set"),
        ({"url": "http://x/y", "secret": "hunter2"}, "24 to 64 bytes in base64"),
        ({"command": [""]}, "command must be"),
        ({"command": ["bin/tell"]}, "absolute path"),
        ({"events": ["pattern.provn"]}, "pattern.provn"),
        ({"timeout_s": 0}, "timeout_s"),
    ],
)
def test_what_cannot_be_set(home, notify, said):
    """One line that names the setting, and no secret."""
    with pytest.raises(SettingsError, match="notify") as raised:
        load_settings(home=home, notify=notify)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "hunter2" not in str(raised.value)


def test_news_of_a_running_daemon_reach_the_webhook_and_the_command(
    home: Path, log: IO[bytes], webhook: ToldWebhook, tmp_path: Path
):
    """Each once and signed; a receiver that hangs keeps no outcome waiting; no secret is logged."""
    told = tmp_path / "told.jsonl"
    program = tmp_path / "tell.sh"
    program.write_text(f'#!/bin/sh\ncat >> "{told}"; echo >> "{told}"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    settings = load_settings(
        home=home,
        worker_concurrency=1,
        notify={
            "url": webhook.url, "secret": SECRET, "command": [str(program)], "timeout_s": 60,
        },
    )  # fmt: skip
    webhook.hangs.set()
    with Daemon(settings, log=log), agent_client(settings) as client:
        # News count from the first look on.
        until(lambda: client.exists(settings.keys.notifications_since))
        publish(client, settings, *(body(n) for n in range(6)), b"not JSON")
        outbox = Outbox(client, settings.keys)
        until(lambda: outbox.count("webhook") == 2 and outbox.count("command") == 0)
        publish(client, settings, *(body(n) for n in range(10, 30)))
        until(lambda: client.xlen(settings.keys.outcomes) == 0)
        assert not webhook.told
        webhook.hangs.clear()
        webhook.goes_on.set()
        until(lambda: outbox.count("webhook") == 0)
    assert sorted(webhook.types) == ["dead-letters.grew", "pattern.proven"]
    (proven,) = [document for _, document in webhook.told if document["type"] == "pattern.proven"]
    assert proven["data"]["project"] == "default"
    assert "became proven" in proven["data"]["text"]
    by_command = [msgspec.json.decode(line) for line in told.read_text().splitlines() if line]
    assert sorted(each["type"] for each in by_command) == sorted(webhook.types)
    logged = Path(log.name).read_text()
    assert "hunter2" not in logged
    assert SECRET not in logged


def test_beat_that_is_killed_while_it_tells_tells_again(
    settings: Settings, redis_server: object, client: redis.Redis, webhook: ToldWebhook,
    tmp_path: Path,
):  # fmt: skip
    """With the same id, by which the receiver recognises what it knows."""
    settings = with_notify(settings, url=webhook.url, secret=SECRET, timeout_s=60)
    seen: list[str] = []

    def take(document: dict) -> int:
        seen.append(document["data"]["subject"])
        return 204

    webhook.status_of = take
    outbox = outbox_of(client, settings, news(0))
    webhook.hangs.set()
    first_log, second_log = tmp_path / "first.log", tmp_path / "second.log"
    with process(beat_command(settings), settings, first_log) as beat:
        lock = settings.keys.notification_lock("webhook")
        until(lambda: client.exists(lock))
        psutil.Process(beat.pid).send_signal(signal.SIGKILL)
    client.delete(lock)  # which ends by itself after two minutes
    webhook.hangs.clear()
    webhook.goes_on.set()
    with process(beat_command(settings), settings, second_log):
        until(lambda: outbox.count("webhook") == 0)
    assert set(seen) == {"p0"}
    assert len({message_id for message_id, _ in webhook.told}) == 1


def test_what_was_found_twice_is_told_once(settings, redis_server, client):
    """However many workers look, and after a look that ended half way."""
    outboxes = [Outbox(client, settings.keys) for _ in range(4)]
    told = [news(n) for n in range(50)]
    threads = [
        threading.Thread(target=each.add, args=("default", told, ["webhook", "command"]),
                         kwargs={"kept_since": 0.0})
        for each in outboxes
    ]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for channel in ("webhook", "command"):
        assert outboxes[0].count(channel) == 50
    assert outboxes[0].add("other", told[:1], ["webhook"], kept_since=0.0) == 1
    assert outboxes[0].add("default", [news(0, at=101.0)], ["webhook"], kept_since=0.0) == 1


def test_a_receiver_that_is_away_is_tried_again(settings, redis_server, client, webhook):
    """Less and less often; what waits is told in its order when it is back."""
    outbox = outbox_of(client, settings, *(news(n) for n in range(3)))
    sender = Sender("webhook", Webhook(webhook.url, KEY, 5.0), client, settings)
    webhook.status_of = lambda _document: 503
    assert sender.send_due() == 0
    pauses = []
    for _ in range(12):
        pauses.append(sender._pause_s)
        sender._resume_at = 0.0
        assert sender.send_due() == 0
    assert pauses[:9] == sorted(pauses[:9])
    assert 5 <= pauses[0] < 10
    assert pauses[-1] < 2 * 3600
    webhook.status_of = lambda _document: 200
    assert sender.send_due() == 0, "it is not tried before its time"
    sender._resume_at = 0.0
    assert sender.send_due() == 3
    assert [document["data"]["subject"] for _, document in webhook.told] == ["p0", "p1", "p2"]
    assert outbox.count("webhook") == 0


def test_a_message_that_is_refused_does_not_hold_up_the_others(
    settings, redis_server, client, webhook, capsys, caplog
):
    """It is tried again later, and given up after days: the log says so, without its words."""
    outbox = outbox_of(client, settings, *(news(n) for n in range(3)))
    webhook.status_of = lambda document: 422 if document["data"]["subject"] == "p0" else 204
    sender = Sender("webhook", Webhook(webhook.url, KEY, 5.0), client, settings)
    assert sender.send_due() == 2
    (left,) = outbox.waiting("webhook")
    assert sender.send_due() == 0
    old = f"{int((time.time() - GIVE_UP_AFTER_S - 60) * 1000)}-0"
    client.delete(settings.keys.notifications("webhook"))
    client.xadd(settings.keys.notifications("webhook"), {"body": left.body}, id=old)
    caplog.clear()
    assert sender.send_due() == 0
    assert outbox.count("webhook") == 0
    assert sender._refused.keys() == {left.entry_id}  # what was given up is not remembered
    # Where it goes, and whether to both, depends on which test of the process first set up logs.
    said = caplog.text + "".join(capsys.readouterr())
    lines = [each for each in said.splitlines() if "notification_given_up" in each]
    assert lines
    for line in lines:
        assert "pattern.proven" in line
        assert "p0" not in line
        assert "became proven" not in line


def test_one_sender_at_a_time(settings, redis_server, client, webhook):
    """Two beats do no harm; when the first one is gone, the second goes on."""
    outbox = outbox_of(client, settings, news(0))
    first = Sender("webhook", Webhook(webhook.url, KEY, 5.0), client, settings)
    second = Sender("webhook", Webhook(webhook.url, KEY, 5.0), client, settings)
    assert first.send_due() == 1
    outbox.add("default", [news(1)], ["webhook"], kept_since=0.0)
    assert second.send_due() == 0
    first.give_back()
    assert second.send_due() == 1


@pytest.mark.parametrize("status", [301, 400, 429, 500])
def test_only_success_counts_as_told(webhook, status):
    """A redirect is not followed: the signature and the news go nowhere else."""
    webhook.status_of = lambda _document: status
    channel = Webhook(webhook.url, KEY, 5.0)
    expected = MessageRefused if status == 400 else EndpointAway
    with pytest.raises(expected) as raised:
        channel.tell("msg_1", b"{}")
    assert "hunter2" not in str(raised.value)


def test_a_command_that_hangs_is_killed_with_what_it_started(tmp_path):
    """Nothing piles up, and the next one is started."""
    mark = tmp_path / "pid"
    channel = CommandChannel(["sh", "-c", f'sleep 1000 & echo $! > "{mark}"; wait'], 1.0)
    with pytest.raises(EndpointAway, match="killed"):
        channel.tell("msg_1", b"{}")
    pid = int(mark.read_text())
    until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie")


def test_a_command_that_ended_is_reaped_after_its_group_is_killed(monkeypatch):
    """Before that nobody else can have its id."""
    seen = []
    kill = os.killpg
    monkeypatch.setattr(
        os, "killpg", lambda pid, sign: (seen.append(psutil.Process(pid).status()), kill(pid, sign))
    )
    CommandChannel(["true"], 60.0).tell("msg_1", b"{}")
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
        CommandChannel(words, 10.0).tell("msg_1", b"x" * 1_000_000)
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
    waiting = Outbox(client, settings.keys).waiting("command")
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
        msgspec.json.decode(each.body)["data"]
        for each in Outbox(client, settings.keys).waiting("command")
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
            pipe.xadd(settings.keys.notifications("webhook"), {"body": "{}"})
        pipe.execute()
    outbox.add("default", [news(n) for n in range(5)], ["webhook"], kept_since=0.0)
    assert outbox.count("webhook") == 10_000


def test_a_secret_in_the_news_is_not_told(settings, redis_server, client):
    """Agents' texts may hold one."""
    text = "The pattern 'use password=hunter2hunter2' became proven."
    told = News(NewsKind.PROVEN, 1.0, text, "default", "x", {})
    (waiting,) = outbox_of(client, settings, told).waiting("webhook")
    assert b"hunter2" not in waiting.body


def test_the_process_of_beat_starts_without_redis(settings, tmp_path, webhook):
    """And tells when it is there: no more than a line in the log meanwhile."""
    settings = with_notify(
        load_settings(home=settings.home, redis_url="redis://127.0.0.1:1/0"),
        url=webhook.url, secret=SECRET,
    )  # fmt: skip
    log_file = tmp_path / "beat.log"
    with process(beat_command(settings), settings, log_file):
        until(lambda: log_lines(log_file, "redis_unavailable"))
    assert os.path.getsize(log_file) < 100_000  # noqa: PTH202 - as short as it gets
