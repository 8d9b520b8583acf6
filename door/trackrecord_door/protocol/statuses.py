"""The HTTP status of each failure that a question can end in."""

from typing import Final

from trackrecord import errors

_STATUSES: Final[tuple[tuple[type[errors.TrackrecordError], int], ...]] = (
    (errors.UnknownId, 404),
    (errors.AmbiguousId, 409),
    (errors.DecisionRefused, 409),
    (errors.TransferRefused, 409),
    (errors.ServerUnavailable, 503),
    (errors.EndpointAway, 503),
    (errors.ExtraMissing, 501),
    (errors.SchemaTooNew, 503),
    (errors.SettingsError, 500),
)
_MISTAKE_OF_THE_CALLER: Final = 422


def status_of(error: errors.TrackrecordError) -> int:
    """Return the HTTP status for an error; its message is one line that may be shown."""
    for kind, status in _STATUSES:
        if isinstance(error, kind):
            return status
    return _MISTAKE_OF_THE_CALLER
