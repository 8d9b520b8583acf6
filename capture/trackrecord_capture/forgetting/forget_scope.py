"""Match bodies outside the store with what is forgotten, and mark them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, get_args

from trackrecord.project_names import DEFAULT_PROJECT
from trackrecord.store.outcomes.forgotten import Kind, digest_of_id
from trackrecord.wire.subject import Subject, told_by

_KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
_OUTCOME: Final = "outcome"


@dataclass(frozen=True)
class ForgetScope:
    """The scope of forgetting, as far as it shows in a body.

    Attributes:
        subject: the source, the task or the project.
        tasks: the tasks that nothing else tells of: what they were handed, and the errors that they
            met, go with them.
    """

    subject: Subject
    tasks: frozenset[str] = frozenset()

    def holds(self, kind: str, body: bytes) -> bool:
        """Return whether a body goes.

        Args:
            kind: the kind of report in it.
            body: the body, valid or not. One that cannot be read goes where the name stands in it.
        """
        told = told_by(body)
        if told is None:
            return self._may_be_in(body)
        if self.subject.concerns(told):
            return True
        is_neighbour = kind != _OUTCOME and told.project == self.subject.project
        return is_neighbour and not self.tasks.isdisjoint(told.tasks)

    def _may_be_in(self, body: bytes) -> bool:
        subject = self.subject
        if not subject.may_be_in(body):
            return False
        of_project = Subject("project", subject.project, subject.project)
        return subject.project == DEFAULT_PROJECT or of_project.may_be_in(body)

    def marks(self, kind: str, body: bytes, entry_id: str = "") -> Iterator[bytes]:
        """Yield the marks of a body's ids, so that it is recognised when it arrives again.

        Args:
            kind: the kind of report in it.
            body: the body.
            entry_id: that of its entry in the stream, which names what has no id of its own.
        """
        told = told_by(body)
        known = next((each for each in _KINDS if each == kind), None)
        if told is None or known is None:
            return
        given = told.body_id or (entry_id and f"stream:{entry_id}")
        if given:
            yield digest_of_id(known, self.subject.project, given)
