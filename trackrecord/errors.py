"""Every error that trackrecord raises on purpose.

An error's message is one line: what is wrong, and what to do about it.
"""


class TrackrecordError(Exception):
    """Root of all errors raised by trackrecord."""


class SettingsError(TrackrecordError):
    """Raised when a setting is unknown, malformed or does not fit with another one."""


class InvalidOutcome(TrackrecordError):
    """Raised when a body is not an outcome as the wire format describes it."""


class InvalidErrorReport(TrackrecordError):
    """Raised when an error of a task cannot be recorded, or asked for, as it is given."""


class InvalidMemory(TrackrecordError):
    """Raised when a memory cannot be stored, or asked for, as it is given."""


class InvalidCandidate(TrackrecordError):
    """Raised when a candidate for a prompt is not as it should be; the message names it."""


class InvalidTime(TrackrecordError):
    """Raised when a text cannot be read as a moment in time."""


class ImportFormatError(TrackrecordError):
    """Raised when recorded runs cannot be read in the format that was named."""


class UnknownId(TrackrecordError):
    """Raised when nothing is on record under the id that was asked for."""


class InvalidArtifactId(TrackrecordError):
    """Raised when no artifact can have the id, or the part of one, that was asked for."""


class ArtifactDamaged(TrackrecordError):
    """Raised when what lies in the place of an artifact is not what was stored."""


class DecisionRefused(TrackrecordError):
    """Raised when a decision by hand does not fit where the pattern stands."""


class RevisionRefused(DecisionRefused):
    """Raised when a revision by hand does not fit where a competence record stands."""


class InvalidRevision(TrackrecordError):
    """Raised when a revision of competence records makes no sense as it is given."""


class WrongDimension(TrackrecordError):
    """Raised when an embedding has another number of dimensions than the others."""


class AlreadyRunning(TrackrecordError):
    """Raised when what may run only once at a time is running already."""


class ServerUnavailable(TrackrecordError):
    """Raised when Redis or the database cannot be reached."""


class RefusedByRedis(ServerUnavailable):
    """Raised when Redis answers and refuses a command, for example because its memory is full."""


class ServerUnfit(ServerUnavailable):
    """Raised when a server answers, but cannot be worked with the way it is set up."""


class KeepsEnding(ServerUnavailable):
    """Raised when a process that `trackrecord up` starts ends again and again."""


class StoreUnavailable(ServerUnavailable):
    """Raised when the database cannot be reached or cannot be written to."""


class StoreUnfit(StoreUnavailable, ServerUnfit):
    """Raised when the database answers, but cannot be worked with the way it is set up."""


class StoreBusy(StoreUnavailable):
    """Raised when the database is locked by another process for longer than it may be."""


class SchemaTooNew(TrackrecordError):
    """Raised when a newer trackrecord has already migrated the database."""


class EndpointAway(TrackrecordError):
    """Raised when an embeddings endpoint gives no answer, none in time, or one it should not."""


class SchemaUnreleased(TrackrecordError):
    """Raised when the database was made by a version from before the first release."""


class NoVectors(TrackrecordError):
    """Raised when the database has no place for vectors."""


class Unhealthy(TrackrecordError):
    """Raised when a process runs and does not do its work."""


class DemoFailed(TrackrecordError):
    """Raised when the demo does not come to its end; the message names the log."""
