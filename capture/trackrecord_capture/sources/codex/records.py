"""The lines of a Codex rollout: `{"timestamp", "type", "payload"}`, as far as they are read.

Everything that could be of another type in some version stays undecoded until it is needed, so
that one decoding of a line suffices for nearly all of them.
"""

import msgspec

from trackrecord.wire.storable import decoded

from ..raw_json import ABSENT


class Payload(msgspec.Struct, gc=False):
    """The useful parts of all payloads; missing ones are empty."""

    type: str = ""
    id: msgspec.Raw = ABSENT
    turn_id: msgspec.Raw = ABSENT
    call_id: msgspec.Raw = ABSENT
    name: msgspec.Raw = ABSENT
    namespace: msgspec.Raw = ABSENT
    role: msgspec.Raw = ABSENT
    content: msgspec.Raw = ABSENT
    message: msgspec.Raw = ABSENT
    arguments: msgspec.Raw = ABSENT
    input: msgspec.Raw = ABSENT
    output: msgspec.Raw = ABSENT
    action: msgspec.Raw = ABSENT
    item: msgspec.Raw = ABSENT
    cwd: msgspec.Raw = ABSENT
    model: msgspec.Raw = ABSENT
    info: msgspec.Raw = ABSENT
    reason: msgspec.Raw = ABSENT
    success: msgspec.Raw = ABSENT
    codex_error_info: msgspec.Raw = ABSENT
    error: msgspec.Raw = ABSENT
    command: msgspec.Raw = ABSENT
    source: msgspec.Raw = ABSENT
    status: msgspec.Raw = ABSENT
    exit_code: msgspec.Raw = ABSENT
    duration: msgspec.Raw = ABSENT
    aggregated_output: msgspec.Raw = ABSENT
    stdout: msgspec.Raw = ABSENT
    stderr: msgspec.Raw = ABSENT
    changes: msgspec.Raw = ABSENT
    invocation: msgspec.Raw = ABSENT
    result: msgspec.Raw = ABSENT
    git: msgspec.Raw = ABSENT
    agent_role: msgspec.Raw = ABSENT
    agent_nickname: msgspec.Raw = ABSENT
    parent_thread_id: msgspec.Raw = ABSENT
    turn_attribution: msgspec.Raw = ABSENT


class RolloutRecord(msgspec.Struct, gc=False):
    """One line of a rollout."""

    type: str = ""
    timestamp: str = ""
    payload: Payload | None = None


_decoder = msgspec.json.Decoder(RolloutRecord)


def decode_record(text: bytes) -> RolloutRecord:
    """Decode a line.

    Raises:
        ValueError: it is not a line of a rollout.
        RecursionError: it is nested too deeply.
    """
    return decoded(text, _decoder)
