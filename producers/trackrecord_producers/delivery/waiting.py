"""The items that wait in memory to be written: a body and the kind of report in it."""

import msgspec

from trackrecord.wire.kinds import Kind


class WaitingItem(msgspec.Struct, frozen=True, gc=False):
    """An item that waits to be written.

    Attributes:
        body: the encoded body.
        names_project: whether the body says which project it belongs to.
        adopts_since: for an attempt's outcome, when the attempt began, on the monotonic clock: what
            others recorded since is added to its errors.
        kind: the kind of report in the body.
        is_safe: whether its secrets are replaced.
    """

    body: bytes
    names_project: bool
    adopts_since: float | None = None
    kind: Kind = "outcome"
    is_safe: bool = False

    def of_project(self, project: str) -> "WaitingItem":
        """Return the same item with a body that names its project."""
        if self.names_project:
            return self
        body = b'{"project":' + msgspec.json.encode(project) + b"," + self.body[1:]
        return msgspec.structs.replace(self, body=body, names_project=True)
