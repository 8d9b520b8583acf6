"""The overview: is the loop alive, how tasks go, what changed, and whether advice helps."""

from trackrecord.errors import ServerUnavailable
from trackrecord.learning.advice.effect.texts import conclusion
from trackrecord.queries.effect import measure_effect
from trackrecord.queries.status import StatusReport, read_status

from ..answering import Shown
from ..asked import Asked


def shown(asked: Asked) -> Shown:
    """Show the overview."""
    status, problem = _status(asked)
    with asked.reading() as connection:
        effect = measure_effect(
            connection, asked.project, setting=asked.floor.settings.holdout, at=asked.at
        )
    values = {
        "status": status,
        "problem": problem,
        "effect": effect,
        "conclusion": conclusion(effect.report),
    }
    return Shown("overview.html", "Overview", values)


def _status(asked: Asked) -> tuple[StatusReport | None, str | None]:
    """Return the status, or why it cannot be told: without Redis the rest is still shown."""
    try:
        with asked.redis() as client, asked.reading() as connection:
            settings = asked.floor.settings
            return read_status(
                client, connection, settings, project=asked.project, at=asked.at
            ), None
    except ServerUnavailable as error:
        return None, str(error)
