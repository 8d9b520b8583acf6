"""Let the memories that agents were handed decay from then on: by exposures, and by recalls."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from trackrecord.errors import StoreUnavailable
from trackrecord.learning.advice import entry_ids
from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.store.database.engine import writing
from trackrecord.store.memories.handed_out import HandedMemory, note_handed_out
from trackrecord.store.outcomes.projects import project_id_of

from .stream_entries import ArrivedExposure, ArrivedRecall


def recall_arrived(
    engine: Engine,
    exposures: Sequence[ArrivedExposure],
    recalls: Sequence[ArrivedRecall],
    rules: MemoryRules,
) -> None:
    """Recall the memories that were handed out, in one transaction per project.

    A memory is recalled once a day at most, so an entry that comes again changes nothing. Unknown
    memories, and projects of which nothing is on record, are passed.

    Raises:
        StoreUnavailable: the database is away, or refuses what nothing is wrong with; all of it
            stays pending.
    """
    arrived = [*_by_exposures(exposures), *_by_recalls(recalls)]
    arrived.sort(key=lambda pair: pair[0])
    for project, pairs in groupby(arrived, key=lambda pair: pair[0]):
        try:
            with writing(engine) as connection:
                project_id = project_id_of(connection, project)
                if project_id is not None:
                    handed = [each for _, each in pairs]
                    note_handed_out(connection, project_id, handed, rules=rules)
        except SQLAlchemyError as error:
            message = f"the database refuses recalls ({type(error).__name__})"
            raise StoreUnavailable(message) from error


def _by_exposures(arrived: Sequence[ArrivedExposure]) -> Iterator[tuple[str, HandedMemory]]:
    for each in arrived:
        exposure = each.exposure
        if exposure.withheld:  # the task was handed nothing
            continue
        exposure_id = exposure.exposure_id or f"stream:{each.entry_id.decode()}"
        moment = _moment(exposure.at, each.received_at)
        for entry in exposure.entries:
            if entry.startswith(entry_ids.MEMORY):
                name = entry.removeprefix(entry_ids.MEMORY)
                yield exposure.project, HandedMemory(name, moment, each.received_at, exposure_id)


def _by_recalls(arrived: Sequence[ArrivedRecall]) -> Iterator[tuple[str, HandedMemory]]:
    for each in arrived:
        moment = _moment(each.recall.at, each.received_at)
        for name in each.recall.memories:
            yield each.recall.project, HandedMemory(name, moment, each.received_at)


def _moment(at: float | None, received_at: float) -> float:
    """Return when it was handed out; a clock that is ahead counts as the time of receipt."""
    return received_at if at is None else min(at, received_at)
