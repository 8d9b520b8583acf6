"""The Python calls for dead letters, on a real Redis."""

import msgspec
import pytest

import trackrecord
from trackrecord.errors import InvalidRequest, UnknownId
from trackrecord.settings.settings import Settings


@pytest.fixture
def dead(client, settings: Settings, monkeypatch: pytest.MonkeyPatch):
    """Sets letters aside, each of a project; returns their ids."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(settings.home))

    def add(*projects: str | None) -> list[str]:
        bodies = [
            b"no json" if each is None else msgspec.json.encode({"project": each})
            for each in projects
        ]
        return [
            client.xadd(settings.keys.dead, {"v": "1", "body": body, "reason": "bad"}).decode()
            for body in bodies
        ]

    return add


def test_only_letters_of_the_project_are_put_back_or_deleted(dead, client, settings):
    """Those of another one are unknown there, and the message names none of them."""
    shop, bank = dead("shop", "bank")
    with pytest.raises(UnknownId) as refused:
        trackrecord.discard_dead_letters([bank], project="shop")
    assert bank not in str(refused.value).replace(repr(bank), "", 1)
    assert trackrecord.replay_dead_letters(everything=True, project="shop") == 1
    assert client.xlen(settings.keys.outcomes) == 1
    assert [each.id for each in trackrecord.list_dead_letters()] == [bank]
    assert trackrecord.discard_dead_letters([bank[:13]]) == 1
    assert shop not in trackrecord.list_dead_letters()


def test_all_letters_are_meant_only_if_that_is_said(dead):
    """Neither by an empty list, nor beside ids."""
    (letter,) = dead("shop")
    for given in ({}, {"ids": []}, {"ids": [letter], "everything": True}):
        with pytest.raises(InvalidRequest):
            trackrecord.discard_dead_letters(**given)
