"""Record the exposures that arrive on the stream among outcomes."""

from collections.abc import Sequence

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from trackrecord.errors import StoreUnavailable
from trackrecord.store.advice.exposures import ReceivedExposure, record_exposures
from trackrecord.store.database.engine import writing
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.outcomes.forgotten import forgotten_among, share_projects

from .stream_entries import ArrivedExposure


def record_arrived(engine: Engine, arrived: Sequence[ArrivedExposure]) -> None:
    """Record exposures in one transaction; one that comes again is recognised by its id.

    Raises:
        StoreUnavailable: the database is away, or refuses what nothing is wrong with; all of it
            stays pending.
    """
    if not arrived:
        return
    received = [
        ReceivedExposure(
            each.exposure,
            # The same whenever the entry is delivered again.
            exposure_id=each.exposure.exposure_id or f"stream:{each.entry_id.decode()}",
            received_at=each.received_at,
        )
        for each in arrived
    ]
    try:
        with writing(engine) as connection:
            received = _not_forgotten(connection, received)
            projects = {each.body.project for each in received}
            record_exposures(connection, ensure_projects(connection, projects), received)
    except SQLAlchemyError as error:
        message = f"the database refuses exposures ({type(error).__name__})"
        raise StoreUnavailable(message) from error


def _not_forgotten(
    connection: Connection, received: Sequence[ReceivedExposure]
) -> list[ReceivedExposure]:
    """Leave out exposures that a person has forgotten."""
    share_projects(connection, {each.body.project for each in received})
    names = {(each.body.project, each.exposure_id) for each in received}
    forgotten = forgotten_among(connection, "exposure", names)
    return [each for each in received if (each.body.project, each.exposure_id) not in forgotten]
