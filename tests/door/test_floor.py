"""The floor of the surfaces: questions beside the event loop, on one store."""

import asyncio
import threading

import trackrecord
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord_door.query_service import QueryService


def test_calls_use_the_store_of_the_floor(tmp_path):
    """And not the one of this process's environment; the event loop goes on meanwhile."""
    service = QueryService(DaemonSettings(home=tmp_path, project="of-the-floor"))

    async def ask() -> None:
        (one,) = await service.ask(
            lambda: [trackrecord.add_competence(["grep"], triggers=["find"], by="a test")]
        )
        assert [each.id for each in await service.ask(trackrecord.list_competences)] == [one.id]
        assert await service.ask(threading.get_ident) != threading.get_ident()

    asyncio.run(ask())
    assert (tmp_path / "trackrecord.db").exists()
    service.close()


def test_two_front_doors_use_a_store_each(tmp_path):
    """On all of their threads, in whichever order they were opened."""
    floors = [QueryService(DaemonSettings(home=tmp_path / name, project=name)) for name in "ab"]
    both = threading.Barrier(2, timeout=30)

    def add() -> str:
        return trackrecord.add_competence(["grep"], triggers=["find"], by="a test").id

    def listed() -> list[str]:
        both.wait()
        return [each.id for each in trackrecord.list_competences()]

    async def ask() -> None:
        ids = [await service.ask(add) for service in floors]
        for service, one in zip(floors, ids, strict=True):
            # Each on a thread of its own, for neither ends without the other.
            found = await asyncio.gather(service.ask(listed), service.ask(listed))
            assert found == [[one], [one]]

    asyncio.run(ask())
    for service in floors:
        service.close()
