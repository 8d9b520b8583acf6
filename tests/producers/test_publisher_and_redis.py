"""Publishing while Redis is up, away, hanging, full, or back again: nothing is lost or held up."""

import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from tests.producers.what_became import arrived, spooled
from tests.support.processes import until
from trackrecord.settings.settings import load_settings


def _outcome(number):
    return {"task_id": f"task-{number}", "success": True}


def _ids(bodies):
    return {body["outcome_id"] for body in bodies}


def test_many_threads_publish_and_everything_arrives_once(agent_settings, client, publisher_of):
    """None is lost between threads."""
    publisher = publisher_of(agent_settings)
    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(lambda _: publisher.publish(_outcome(0)), range(4000)))
    assert publisher.flush(60)
    bodies = arrived(client)
    assert len(bodies) == 4000
    assert _ids(bodies) == ids
    assert publisher.stats().sent == 4000


def test_refused_outcomes_are_spooled_and_forwarded_when_redis_is_back(
    home, redis_server, client, publisher_of, caplog
):
    """The log says so once."""
    settings = load_settings(home=home, retry_after_s=0.1)
    publisher = publisher_of(settings)
    before = publisher.publish(_outcome(0))
    assert publisher.flush(60)
    redis_server.kill()
    away = [publisher.publish(_outcome(number)) for number in range(1, 1001)]
    assert publisher.flush(60)
    assert _ids(spooled(home)) == set(away)
    assert [line for line in caplog.messages if "spool" in line] == caplog.messages[:1]
    redis_server.start()
    until(lambda: not spooled(home))
    after = publisher.publish(_outcome(1001))
    assert publisher.flush(60)
    with redis_server.client() as fresh:
        # appendfsync is always: what was sent before the kill is there too.
        assert _ids(arrived(fresh)) == {before, *away, after}
    stats = publisher.stats()
    assert (stats.sent, stats.spooled, stats.forwarded, stats.dropped) == (2, 1000, 1000, {})


def test_a_hung_server_delays_nobody_and_loses_nothing(home, hung_port, publisher_of):
    """Neither `publish` nor `flush` waits for it."""
    settings = load_settings(
        home=home, redis_url=f"redis://127.0.0.1:{hung_port}/0", retry_after_s=0.1
    )
    publisher = publisher_of(settings)
    ids = []
    begin = time.monotonic()
    for _ in range(100):
        ids += [publisher.publish(_outcome(0)) for _ in range(20)]
        time.sleep(0.02)
    assert publisher.flush(200)
    # The server is asked over and over, each time for a second: for each outcome that would be
    # half an hour, and for each turn a hundred seconds.
    assert time.monotonic() - begin < 60.0
    assert _ids(spooled(home)) == set(ids)
    assert publisher.stats().dropped == {}


def test_a_server_that_refuses_writes_is_spooled_for(agent_settings, home, client, publisher_of):
    """Out of memory under noeviction: Redis answers, but takes nothing."""
    client.config_set("maxmemory", "100kb")
    publisher = publisher_of(agent_settings)
    ids = {publisher.publish(_outcome(number)) for number in range(10)}
    assert publisher.flush(60)
    time.sleep(0.5)
    ids.add(publisher.publish(_outcome(11)))
    assert publisher.flush(60)
    assert arrived(client) == []
    assert _ids(spooled(home)) == ids
    # The file is taken up again after each vain try, instead of one more being made.
    assert len(list((home / "spool").iterdir())) == 1
    client.config_set("maxmemory", "0")
    until(lambda: client.xlen("trackrecord:outcomes") == 11)
    assert _ids(arrived(client)) == ids
    until(lambda: not spooled(home))


def test_a_bare_socket_in_between_that_breaks_off_loses_nothing(home, client, publisher_of):
    """The connection ends in the middle of an answer: sent twice at worst, never lost."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(10)

        def breaks_off():
            connection, _ = listening.accept()
            connection.recv(10)
            connection.close()

        thread = threading.Thread(target=breaks_off)
        thread.start()
        port = listening.getsockname()[1]
        settings = load_settings(home=home, redis_url=f"redis://127.0.0.1:{port}/0")
        publisher = publisher_of(settings)
        outcome_id = publisher.publish(_outcome(0))
        assert publisher.flush(60)
        thread.join()
    assert _ids(spooled(home)) == {outcome_id}


def test_publishing_inside_a_signal_handler_does_not_deadlock(agent_settings, client, publisher_of):
    """Even when the signal comes inside `publish`."""
    publisher = publisher_of(agent_settings)
    from_handler = []

    def handler(*_):
        from_handler.append(publisher.publish(_outcome(-1)))

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        published = []
        while len(from_handler) < 100:
            published.append(publisher.publish(_outcome(0)))
            time.sleep(0.0001)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert publisher.flush(60)
    assert _ids(arrived(client)) == {*published, *from_handler}
