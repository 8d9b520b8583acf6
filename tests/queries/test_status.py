"""The status: what it shows of servers, and what its verdict says."""

import pytest

from trackrecord.queries.status import _verdict, counted
from trackrecord.server_urls import without_password


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://:hunter2@host:6379/0", "redis://:***@host:6379/0"),
        ("rediss://me:hunter2@host:6379/0?password=hunter2", "rediss://me:***@host:6379/0"),
        ("redis://host:6379/0", "redis://host:6379/0"),
        ("redis://[::1]:6379/0", "redis://[::1]:6379/0"),
        ("unix:///run/redis.sock?db=1", "unix:///run/redis.sock"),
        ("postgresql+psycopg://me:hun@ter2@host/x?password=hunter2",
         "postgresql+psycopg://me:***@host/x"),
        ("sqlite:////var/lib/trackrecord/trackrecord.db",
         "sqlite:////var/lib/trackrecord/trackrecord.db"),
    ],
)  # fmt: skip
def test_a_servers_address_is_shown_without_its_password(url, shown):
    """Options of the URL are left out: one of them may be a password."""
    assert without_password(url) == shown


def _of(**changed):
    flow = {"workers": 1, "waiting": 0, "oldest_waiting_s": None, "pending": 0}
    flow |= {"dead_letters": 0, "dead_letters_dropped": 0, "memory_full": False}
    return _verdict(**flow | {"rebuild_due": {}, "spooled": 0} | changed)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "Outcomes are being learnt by 1 worker; all is well."),
        ({"workers": 2, "waiting": 5, "oldest_waiting_s": 1.0},
         "Outcomes are being learnt by 2 workers; all is well."),
        ({"workers": 0}, "Nothing can be learnt: no worker is running. Start one with "),
        ({"workers": 0, "waiting": 1}, "1 outcome will wait until then"),
        ({"waiting": 7, "oldest_waiting_s": 90.0}, "the oldest of 7 waiting outcomes is 90 s old"),
        ({"dead_letters": 1}, "1 dead letter (`trackrecord dead list`)"),
        ({"dead_letters": 9, "dead_letters_dropped": 5},
         "9 dead letters, 5 older ones dropped (`trackrecord dead list`)"),
        ({"memory_full": None}, "Outcomes are being learnt by 1 worker; all is well."),
        ({"memory_full": True, "waiting": 3, "spooled": 2},
         "agents spool (2 outcomes so far); 1 worker is making room, with 3 outcomes to be"),
        ({"memory_full": True, "workers": 0}, "Redis's memory is full"),
        ({"memory_full": True, "workers": 0}, "no worker asks for outcomes: start one"),
        ({"spooled": 3}, "3 outcomes in the spool"),
        ({"rebuild_due": {"a": ["x"]}}, "1 project to rebuild (`trackrecord rebuild`)"),
    ],
)  # fmt: skip
def test_the_verdict_is_one_sentence_about_what_matters(changed, said):
    """Whether outcomes are learnt, and what to look into."""
    assert said in _of(**changed)
    assert "\n" not in _of(**changed)


def test_numbers_agree_with_their_nouns():
    """One candidate, two candidates, none."""
    assert [counted(n, "candidate") for n in (0, 1, 2)] == [
        "0 candidates", "1 candidate", "2 candidates",
    ]  # fmt: skip
