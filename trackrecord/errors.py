"""Every error that trackrecord raises on purpose.

An error's message is one line: what is wrong, and what to do about it.
"""


class TrackrecordError(Exception):
    """Root of all errors raised by trackrecord."""


class SettingsError(TrackrecordError):
    """Raised when a setting is unknown, malformed or does not fit with another one."""


class InvalidEntry(TrackrecordError):
    """Raised when an entry of the stream does not hold what the wire format describes."""


class InvalidOutcome(InvalidEntry):
    """Raised when a body is not an outcome as the wire format describes it."""


class InvalidErrorReport(InvalidEntry):
    """Raised when an error of a task cannot be recorded or requested with these arguments."""


class InvalidMemory(InvalidEntry):
    """Raised when a memory cannot be stored or requested with these arguments."""


class InvalidExposure(InvalidEntry):
    """Raised when a body is not an exposure as the wire format describes it."""


class InvalidFeedback(InvalidEntry):
    """Raised when feedback cannot be counted as it is given."""


class InvalidHint(InvalidEntry):
    """Raised when a body is not a hint as the wire format describes it."""


class InvalidRecall(InvalidEntry):
    """Raised when a body is not a recall of memories as the wire format describes it."""


class InvalidCandidate(TrackrecordError):
    """Raised when a candidate for a prompt is invalid; the message names it."""


class InvalidScores(TrackrecordError):
    """Raised when scores on criteria cannot be weighed as they are given."""


class InvalidTag(TrackrecordError):
    """Raised when a pattern cannot be tagged as it is asked for."""


class InvalidTime(TrackrecordError):
    """Raised when a text cannot be read as a moment in time."""


class ImportFormatError(TrackrecordError):
    """Raised when recorded runs cannot be read in the format that was named."""


class UnknownId(TrackrecordError):
    """Raised when nothing is stored under the requested id.

    Attributes:
        nearest: the known id that is spelt most like it; None when none is close.
    """

    def __init__(self, message: str, *, nearest: str | None = None, hint: str = "") -> None:
        """Make the message: the unknown name, then the nearest known id, or else the hint."""
        self.nearest = nearest
        what_to_do = hint if nearest is None else f"did you mean {nearest!r}?"
        super().__init__(f"{message}; {what_to_do}" if what_to_do else message)

    def add(self, note: str) -> None:
        """Let the message end with a note."""
        self.args = (f"{self}; {note}",)


class UnknownProject(UnknownId):
    """Raised when nothing is on record for the project that was named.

    Attributes:
        project: the name.
        nearest: the known project that is spelt most like it; None when none is close.
    """

    def __init__(self, project: str, *, nearest: str | None, count: int) -> None:
        self.project = project
        if count:
            hint = "name one with --project; `trackrecord projects` lists them"
        else:
            hint = "no project is on record yet: `trackrecord publish` records outcomes"
        super().__init__(f"project {project!r} does not exist", nearest=nearest, hint=hint)


class InvalidCursor(TrackrecordError):
    """Raised when the cursor of a page was not issued by this list."""


class AmbiguousId(TrackrecordError):
    """Raised when several ids begin with the text that was given as one."""


class InvalidArtifactId(TrackrecordError):
    """Raised when the requested artifact id or range is malformed."""


class ArtifactDamaged(TrackrecordError):
    """Raised when an artifact's content on disk differs from the stored one."""


class DecisionRefused(TrackrecordError):
    """Raised when a pattern's state does not permit a decision by hand."""


class RevisionRefused(DecisionRefused):
    """Raised when a competence record's status does not permit a revision by hand."""


class InvalidRevision(TrackrecordError):
    """Raised when a revision of competence records is invalid for any record."""


class WrongDimension(TrackrecordError):
    """Raised when an embedding has another number of dimensions than the others."""


class AlreadyRunning(TrackrecordError):
    """Raised when a process that may run only once at a time is running already."""


class RetentionFailed(TrackrecordError):
    """Raised when what is old could not be removed of some projects."""


class ServerUnavailable(TrackrecordError):
    """Raised when Redis, the database or the HTTP server cannot be reached."""


class RefusedByRedis(ServerUnavailable):
    """Raised when Redis answers and refuses a command, for example because its memory is full."""


class ServerUnfit(ServerUnavailable):
    """Raised when a server responds, but its configuration is not usable."""


class KeepsEnding(ServerUnavailable):
    """Raised when a process that `trackrecord up` starts ends again and again."""


class AddressUnusable(ServerUnavailable):
    """Raised when the HTTP server cannot listen on its address, for example because it is taken."""


class StoreUnavailable(ServerUnavailable):
    """Raised when the database cannot be reached or cannot be written to."""


class StoreUnfit(StoreUnavailable, ServerUnfit):
    """Raised when the database responds, but its configuration is not usable."""


class StoreBusy(StoreUnavailable):
    """Raised when the database is locked by another process for longer than it may be."""


class StoreMoved(StoreUnavailable):
    """Raised when an older version moved the store to another database, or began to."""


class TransferRefused(TrackrecordError):
    """Raised when a store cannot be moved, or a project imported, with these arguments."""


class SchemaTooNew(TrackrecordError):
    """Raised when the tables are of a newer version, or of one from before the first release."""


class EndpointAway(TrackrecordError):
    """Raised when an embeddings endpoint gives no answer, a late one, or an invalid one."""


class NoVectors(TrackrecordError):
    """Raised when the database has no place for vectors."""


class InvalidRequest(TrackrecordError):
    """Raised when an argument of a call is not usable; the message names it."""


class ExtraMissing(TrackrecordError):
    """Raised when a call needs a package that only an extra of trackrecord installs."""


class Unhealthy(TrackrecordError):
    """Raised when a process runs and does not do its work."""


class DemoFailed(TrackrecordError):
    """Raised when the demo does not come to its end; the message names the log."""
