"""Malformed URLs of servers are refused in one line that names the setting and hides passwords."""

import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st

import trackrecord
from trackrecord.errors import SettingsError
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.redis.client import agent_client
from trackrecord.settings.agent_settings import load_agent_settings
from trackrecord.settings.server_urls import (
    checked_database_url,
    checked_redis_url,
    is_cluster_url,
    server_group,
    without_password,
)
from trackrecord_cli.main import WRONG_USE, run
from trackrecord_producers.publishing.publisher import Publisher

MALFORMED = [
    "redis://:sekret@127.0.0.1:1/0?foo=bar", "redis://:sekret@127.0.0.1:notaport/0",
    "redis://:sekret@127.0.0.1:99999/0", "redis://:sekret@127.0.0.1:0/0", "redis://:sekret@[::1",
    "rediss://:sekret@127.0.0.1?ssl_cert_reqs=bogus", "redis://:sekret@127.0.0.1/abc",
    "redis://:sekret@127.0.0.1/-1", "redis://:sekret@127.0.0.1?db=abc",
    "redis://:sekret@127.0.0.1?socket_timeout=soon",
    "redis://:sekret@127.0.0.1?socket_timeout=-1", "redis://:sekret@127.0.0.1?socket_timeout=nan",
    "redis://:sekret@127.0.0.1?decode_responses=True", "redis://:sekret@127.0.0.1?retry=3",
    "redis://:sekret@127.0.0.1:1/0 ", "redis:sekret", "http://:sekret@127.0.0.1:1/0", "unix://",
    "redis+cluster://", "redis+cluster://:sekret@a:1,", "redis+cluster://:sekret@a:1,b:99999",
    "redis+cluster://:sekret@a:1,b:x", "redis+cluster://:sekret@a:1/0",
    "redis+cluster://:sekret@a:1?db=0", "redis+cluster://:sekret@a:1?foo=bar",
    "redis+cluster://:sekret@a:1?sentinel_password=sekret", "redis+sentinel://:sekret@a:1",
    "redis+sentinel://:sekret@a:1,b:2/my/0", "redis+other://:sekret@a:1",
]  # fmt: skip
MALFORMED_DATABASE = [
    "postgresql://me:sekret@127.0.0.1:notaport/db",
    "postgresql://me:sekret@127.0.0.1:99999/db",
    "postgresql://me:sekret@[::1/db",
    "postgresql://me:sekret@a:1,b:2/db",
    "mysql://me:sekret@127.0.0.1/db",
    "sekret",
]


@pytest.mark.parametrize("url", MALFORMED)
def test_a_malformed_redis_url_is_refused(url, monkeypatch):
    """The line names the setting, and never the password."""
    monkeypatch.setenv("TRACKRECORD_REDIS_URL", url)
    with pytest.raises(SettingsError) as caught:
        load_agent_settings()
    line = str(caught.value)
    assert line.startswith("setting redis_url: ")
    assert "\n" not in line
    assert "sekret" not in line


@pytest.mark.parametrize("url", MALFORMED[:1])
def test_what_an_agent_calls_says_so(url, home, monkeypatch, caplog):
    """`publish` counts bad settings, `rankings` and `context` answer with the problem."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    monkeypatch.setenv("TRACKRECORD_REDIS_URL", url)
    publisher = Publisher()
    publisher.publish({"task_id": "t", "success": True})
    publisher.flush(5.0)
    publisher.close()
    assert publisher.stats().dropped == {"bad_settings": 1}
    assert "setting redis_url" in (trackrecord.rankings().problem or "")
    assert "setting redis_url" in (trackrecord.context().problem or "")
    assert "sekret" not in caplog.text


@pytest.mark.parametrize("url", MALFORMED_DATABASE)
def test_a_malformed_database_url_is_refused(url, home, monkeypatch, capfd):
    """One line, without the password."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    monkeypatch.setenv("TRACKRECORD_DATABASE_URL", url)
    assert run(["patterns", "list"]) == WRONG_USE
    _, said = capfd.readouterr()
    assert said.startswith("trackrecord: setting database_url: ")
    assert said.count("\n") == 1
    assert "sekret" not in said


@pytest.mark.parametrize(
    "url",
    [
        "redis://127.0.0.1",
        "redis://127.0.0.1:6379/0",
        "redis://me:p%40ss@[::1]:6379/15",
        "rediss://127.0.0.1:6379/0?ssl_cert_reqs=none",
        "redis://127.0.0.1:6379?db=3&socket_timeout=0.5&health_check_interval=5",
        "unix:///run/redis.sock?db=2",
        "unix://me:pass@/run/redis.sock",
    ],
)
def test_a_proper_redis_url_is_kept(url):
    """What redis-py accepts stays as it is written."""
    assert checked_redis_url(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///relative.db",
        "sqlite:////var/lib/trackrecord.db",
        "postgresql://me:p/a:s?s@db.internal:5432/trackrecord",
        "postgres://db",
        "postgresql+psycopg://[::1]:5432/trackrecord",
        "postgresql:///trackrecord?host=/run/postgresql",
    ],
)
def test_a_proper_database_url_is_kept(url):
    """What SQLAlchemy accepts stays as it is written."""
    assert checked_database_url(url) == url


_pieces = st.sampled_from(
    [
        *("redis://", "rediss://", "unix://", "127.0.0.1", "[::1]", "[", ":", "1", "65536", "/"),
        *("?", "db=", "&", "socket_timeout=", "ssl_cert_reqs=", "x", "@", "%", "%00", "é", "-1"),
    ]
)


@given(st.lists(_pieces, max_size=10).map("".join) | st.text(max_size=40))
def test_whatever_is_accepted_can_be_connected_with(url):
    """A URL that passes makes a client whose only trouble is a server that is away."""
    try:
        checked_redis_url(url)
    except ValueError:
        return
    # Port 1 of this machine refuses at once; other hosts are not asked.
    if "127.0.0.1:1/" not in url and not url.endswith("127.0.0.1:1"):
        return
    settings = load_agent_settings(redis_url=url, redis_timeout_s=0.2)
    with agent_client(settings) as client, pytest.raises(redis.ConnectionError):
        client.ping()
    assert RankingsReader(settings).read().problem is not None


def test_several_servers_of_a_url():
    """Each address with its port, and the options of each as redis-py takes them."""
    group = server_group("rediss+cluster://u:p%40@a:1,[::1]:2,c?ssl_cert_reqs=none")
    assert group is not None
    assert group.addresses == (("a", 1), ("::1", 2), ("c", 6379))
    assert group.url == "rediss://u:p%40@a:1?ssl_cert_reqs=none"
    assert group.service == ""
    url = "redis+sentinel://u:p@a,b:5/my%20master?db=2&sentinel_username=s&sentinel_password=q"
    assert checked_redis_url(url) == url
    group = server_group(url)
    assert group is not None
    assert group.addresses == (("a", 26379), ("b", 5))
    assert (group.url, group.service) == ("redis://u:p@a?db=2", "my master")
    assert group.sentinels_user == {"username": "s", "password": "q"}
    assert without_password(url) == "redis+sentinel://u:***@a,b:5/my%20master"
    assert server_group("redis://a:1/0") is None
    assert is_cluster_url("redis+cluster://a")
    assert not is_cluster_url("redis+sentinel://a/m")
