"""A run of a transcript while its records are being read."""

import re
from typing import Final

from ...agent_run import AgentRun, RunCall, Signal, SignalKind, run_outcome_id
from ..moments import seconds_of
from ..raw_json import object_of, text_of
from .calls import OpenCall
from .prompts import INTERRUPTED
from .records import (
    Block,
    RecordMessage,
    TranscriptRecord,
    blocks_of,
    message_of,
    result_text,
    usage_of,
)

AGENT: Final = "claude-code"
_SYNTHETIC: Final = "<synthetic>"
_MOST_CALLS: Final = 20_000
_LONGEST_SAYS: Final = 500
_LOST: Final = "[Tool call interrupted: the session ended"
_UNANSWERED: Final = "no answer came any more"
REWOUND: Final = Signal(kind=SignalKind.UNDONE, says="the person went back to before it")
_REJECTED: Final = re.compile(r"\A(?:Error: )?The user doesn['’]t want to (?:proceed|take this)")


class OpenRun:
    """One run as far as it has been read.

    Attributes:
        start: the position of its first record.
        key: what makes it one run: its prompt's id, or its sub-agent's.
        calls: its calls, by their ids, in order.
        is_followed: whether the next prompt has come, so that nothing more is expected.
        asked_after: the id of the record that its prompt stands behind; "" at the very beginning,
            None if unknown.
        is_rewound: whether the person went back to before its prompt.
    """

    def __init__(self, key: str, start: int, *, parent: str = "") -> None:
        self.key = key
        self.start = start
        self.parent = parent
        self.calls: dict[str, OpenCall] = {}
        self.is_followed = False
        self.asked_after: str | None = None
        self.is_rewound = False
        self.instruction = ""
        self.session = ""
        self._answers: dict[str, tuple[int, int]] = {}
        self._signs: list[Signal] = []
        self._api_failure: Signal | None = None
        self._facts: dict[str, str] = {}
        self._started_at: float | None = None
        self._ended_at: float | None = None
        self._has_ended = False
        self._has_worked = False
        self._awaits_answer = False

    @property
    def is_empty(self) -> bool:
        """Return whether no agent worked: a command that Claude Code carried out by itself."""
        return not self._has_worked and not self._signs and self._api_failure is None

    @property
    def can_go_on(self) -> bool:
        """Return whether an agent worked in it, so that it can be told to go on."""
        return self._has_worked and not self.parent

    @property
    def can_be_rewound(self) -> bool:
        """Return whether it has ended, and there is something that was taken back with it."""
        return bool(self.calls) and (self._has_ended or self.is_followed)

    def touch(self, record: TranscriptRecord) -> float | None:
        """Take the fields that every record has: time, folder and program."""
        at = seconds_of(text_of(record.timestamp))
        if at is not None:
            self._started_at = at if self._started_at is None else self._started_at
            self._ended_at = max(at, self._ended_at or at)
        for name in ("cwd", "git_branch", "entrypoint", "attribution_agent"):
            if name not in self._facts and (value := text_of(getattr(record, name))):
                self._facts[name] = value
        if not self.session:
            self.session = text_of(record.session_id)
        return at

    def answer(self, record: TranscriptRecord) -> list[OpenCall]:
        """Take a record of the model's answer, one part of it with the usage of the whole.

        Returns:
            The calls that it makes.
        """
        at = self.touch(record)
        message = message_of(record)
        if record.is_true("is_api_error_message"):
            self._api_failure = Signal(kind=SignalKind.API_FAILED, says=_words(message), at=at)
            self._has_ended = True
            return []
        if message.model == _SYNTHETIC:
            return []
        self._awaits_answer = False
        self._has_worked, self._has_ended = True, message.stop_reason not in (None, "tool_use")
        self._api_failure = None
        if message.stop_reason == "refusal":
            self._api_failure = Signal(kind=SignalKind.API_FAILED, says="refused", at=at)
        self._count(message)
        return [
            self._call(block, at, text_of(record.cwd))
            for block in blocks_of(message)
            if block.type == "tool_use" and block.id and len(self.calls) < _MOST_CALLS
        ]

    def _call(self, block: Block, at: float | None, folder: str) -> OpenCall:
        self._has_ended = False
        return self.calls.setdefault(block.id or "", OpenCall(block, at, folder))

    def _count(self, message: RecordMessage) -> None:
        if message.model:
            self._facts["model"] = message.model
        usage = usage_of(message)
        read = (
            usage.input_tokens,
            usage.cache_creation_input_tokens,
            usage.cache_read_input_tokens,
        )
        if message.id and usage.output_tokens is not None:
            self._answers[message.id] = (sum(n or 0 for n in read), usage.output_tokens)

    def results(
        self, record: TranscriptRecord, blocks: list[Block], owners: dict[str, OpenCall]
    ) -> None:
        """Take the results of calls, wherever in the transcript those were made."""
        at = self.touch(record)
        self._awaits_answer = True
        for block in blocks:
            call = owners.get(block.tool_use_id or "")
            if block.type != "tool_result" or call is None or not call.is_open:
                continue
            if block.is_error and result_text(block.content).startswith(_LOST):
                # Written when the session is resumed, long after the call was cut off.
                continue
            if self._is_refusal(record, block):
                call.refuse(at)
                place = list(self.calls).index(call.id) if call.id in self.calls else None
                self._signs.append(Signal(kind=SignalKind.REJECTED, at=at, call=place))
            else:
                call.end(block, record.tool_use_result, at)

    def _is_refusal(self, record: TranscriptRecord, block: Block) -> bool:
        if text_of(record.tool_denial_kind) == "user-rejected":
            return True
        return bool(block.is_error) and _REJECTED.match(result_text(block.content)) is not None

    def interrupt(self, record: TranscriptRecord) -> None:
        """Note that the person stopped it; the call that ran then was not refused but stopped."""
        at = self.touch(record)
        last = self._signs[-1] if self._signs else None
        call = None
        if (
            last is not None
            and last.kind is SignalKind.REJECTED
            and last.call == len(self.calls) - 1
        ):
            call = self._signs.pop().call
        self._signs.append(Signal(kind=SignalKind.INTERRUPTED, at=at, call=call))
        self._has_ended = True

    def retry(self, record: TranscriptRecord) -> None:
        """Note that the model's API failed; an answer that comes later makes up for it."""
        at, says = self.touch(record), object_of(record.error).get("message")
        self._api_failure = Signal(
            kind=SignalKind.API_FAILED,
            says=says[:_LONGEST_SAYS] if isinstance(says, str) else "",
            at=at,
        )

    def go_on(self, prompt: str, at: float | None) -> None:
        """Note that the person told the agent to go on with it."""
        self._note_cut_off()
        self.sign(SignalKind.FOLLOWED_BY, prompt[:_LONGEST_SAYS], at)
        self._has_ended = self._awaits_answer = False

    def _note_cut_off(self) -> None:
        """Note that the agent's process ended while a call ran, if it did."""
        if any(sign.kind is SignalKind.INTERRUPTED for sign in self._signs):
            return
        calls = list(self.calls.values())
        places = [place for place, call in enumerate(calls) if call.is_open]
        if not places and self._awaits_answer and calls and calls[-1].was_killed:
            # Closing the terminal ends the command first, and then the agent.
            places = [len(calls) - 1]
        if not places:
            return
        for place in places:
            calls[place].lose()
        self._awaits_answer = False
        self._signs.append(Signal(kind=SignalKind.CUT_OFF, at=self._ended_at, call=places[0]))

    def give_up(self, reason: str, record: TranscriptRecord) -> None:
        """Note that the agent ended the run, because it may not do any more."""
        self.sign(SignalKind.CRASHED, reason, self.touch(record))
        self._has_ended = True

    def sign(self, kind: SignalKind, says: str = "", at: float | None = None) -> None:
        """Note a piece of evidence."""
        self._signs.append(Signal(kind=kind, says=says, at=at))

    def follow(self, prompt: str, at: float | None) -> None:
        """Note the next prompt."""
        self._note_cut_off()
        self.is_followed = True
        self.sign(SignalKind.FOLLOWED_BY, prompt[:_LONGEST_SAYS], at)

    def finished(self, session: str, name: str = "") -> AgentRun:
        """Return the run as far as it is known."""
        started = self._started_at or 0.0
        self._note_cut_off()
        signs = list(self._signs)
        if self._awaits_answer and self._api_failure is None and not self._has_ended:
            signs.insert(0, Signal(kind=SignalKind.API_FAILED, says=_UNANSWERED, at=self._ended_at))
        if self._api_failure is not None:
            signs.insert(0, self._api_failure)
        if self.is_rewound:
            signs.append(REWOUND)
        entrypoint = self._facts.get("entrypoint", "")
        session = self.session or session
        return AgentRun(
            agent=AGENT,
            session=session,
            prompt=self.key,
            captured_from="transcript",
            started_at=started,
            ended_at=max(started, self._ended_at or started),
            folder=self._facts.get("cwd", ""),
            branch=self._facts.get("git_branch", ""),
            model=self._facts.get("model", ""),
            instruction=self.instruction,
            calls=self._calls(),
            signs=tuple(signs),
            is_over=self.is_followed or self._has_ended,
            parent=run_outcome_id(AGENT, session, self.parent) if self.parent else "",
            name=name or (self._facts.get("attribution_agent", "") if self.parent else ""),
            tokens_in=self._sum(0),
            tokens_out=self._sum(1),
            automated=entrypoint.startswith("sdk"),
        )

    def _sum(self, place: int) -> int | None:
        return sum(answer[place] for answer in self._answers.values()) if self._answers else None

    def _calls(self) -> tuple[RunCall, ...]:
        return tuple(call.finished() for call in self.calls.values())


def _words(message: RecordMessage) -> str:
    texts = [block.text for block in blocks_of(message) if block.text]
    return " ".join(texts)[:_LONGEST_SAYS]


def is_interruption(said: str) -> bool:
    """Return whether a record shows that the person stopped the agent."""
    return said.startswith(INTERRUPTED)
