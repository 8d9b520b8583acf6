"""Undoing: facts have ids by which a person dismisses them, and no agent is told of them then."""

import hashlib
from collections.abc import Collection
from typing import Final

import msgspec

from .facts import KnownFailure, KnownNeed, MomentFacts

COMMAND: Final = "command"
FILE: Final = "file"
_DIGEST_BYTES: Final = 8


def command_id(repository: str, kind: str, line: str, machine: str = "") -> str:
    """Return the id of a fact about a command or a file."""
    whole = "\0".join((repository, kind, line, machine)).encode(errors="replace")
    return hashlib.blake2b(whole, digest_size=_DIGEST_BYTES).hexdigest()


def failure_id(repository: str, key: str, failure: KnownFailure) -> str:
    """Return the id of what fails; of one shape of lines it is the same whichever failed last."""
    kind = failure.kinds[0] if failure.kinds else COMMAND
    return command_id(repository, kind, key.partition(" ")[2], failure.machine)


def need_id(repository: str, need: KnownNeed) -> str:
    """Return the id of what a command needs first."""
    kind = need.kinds[0] if need.kinds else COMMAND
    return command_id(repository, kind, f"{need.first}\0{need.says}")


def facts_without(facts: MomentFacts, repository: str, dismissed: Collection[str]) -> MomentFacts:
    """Return facts without those that a person dismissed.

    Args:
        facts: those of a repository.
        repository: the repository.
        dismissed: the ids of facts.
    """
    if not dismissed:
        return facts

    def is_told(kind: str, line: str) -> bool:
        return command_id(repository, kind, line) not in dismissed

    def is_told_of(key: str, failure: KnownFailure) -> bool:
        # By its line, too, where it is known by the shape of it.
        keys = (key, f"line {failure.says}")
        return all(failure_id(repository, each, failure) not in dismissed for each in keys)

    failures = {
        key: tuple(each for each in known if is_told_of(key, each))
        for key, known in facts.failures.items()
    }
    return msgspec.structs.replace(
        facts,
        failures={key: kept for key, kept in failures.items() if kept},
        checks={
            kind: tuple(each for each in lines if is_told(kind, each.line))
            for kind, lines in facts.checks.items()
        },
        needs={
            key: need
            for key, need in facts.needs.items()
            if need_id(repository, need) not in dismissed
        },
        files={name: file for name, file in facts.files.items() if is_told(FILE, name)},
        never=tuple(each for each in facts.never if is_told(FILE, each[0])),
        usual=tuple(each for each in facts.usual if is_told(each.kind, each.line)),
    )
