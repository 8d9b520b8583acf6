"""The parts of a span or an event that a run is made of, bounded."""

from typing import Final

import msgspec

from .vocabulary import SpanKind

MOST_CHARS: Final = 64 * 1024


class SpanScore(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A score given by a person or a program.

    Attributes:
        name: what was judged.
        success: whether it was good; None if the score has no threshold.
        says: the score, the label and the explanation in words.
        at: seconds since the epoch; None if unknown.
        of_trace: whether it is about the whole trace and not the one span.
    """

    name: str
    success: bool | None = None
    says: str = ""
    at: float | None = None
    of_trace: bool = False


class Fact(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The relevant part of one span, or of one event of an agent that reports in events.

    Texts are as the source has them, secrets included, and cut to a bounded length.

    Attributes:
        span: the span's id; for an event an id of its own, the same whenever it comes again.
        parent: the id of the span above; "" if none is known.
        kind: what it tells of.
        name: the span's name.
        scope: the instrumentation.
        start: seconds since the epoch.
        end: as `start`.
        tool: the tool's name.
        call: the source's id of the call.
        arguments: the arguments, as a text; None if unknown.
        command: the command line, where the source has it apart from the arguments.
        edited: the file that the tool touched, where the source has it apart.
        result: the result, as a text; None if unknown.
        failed: whether the source says that it failed, in whichever way; None if it does not say.
        status: the status of the span.
        error: the error's text.
        error_type: the type of the error or of the exception.
        exit_code: the exit status.
        decision: what the user decided about the call.
        agent: the name of the agent.
        service: the name of the service.
        session: the session.
        prompt_id: the id of the prompt in the session.
        started_by: the id of the prompt whose run started this one, of a sub-agent.
        prompt: what the user asked, if it says so.
        model: the model.
        tokens_in: tokens that the model read.
        tokens_out: tokens that it wrote.
        usd: US dollars.
        folder: the working folder.
        project: the project, where it is named outright.
        repository: the repository, its address or its name.
        branch: the branch.
        commit: a commit that the call made.
        evaluations: scores that it carries.
        rated: how the person rated the session, where it is such an event.
        is_end: whether nothing more comes of this run.
        resumes: whether it goes on with work of its session that had stopped for a person's answer.
    """

    span: str
    kind: SpanKind
    start: float
    end: float
    parent: str = ""
    name: str = ""
    scope: str = ""
    tool: str = ""
    call: str = ""
    arguments: str | None = None
    command: str = ""
    edited: str = ""
    result: str | None = None
    failed: bool | None = None
    status: str = "unset"
    error: str = ""
    error_type: str = ""
    exit_code: int | None = None
    decision: str = ""
    agent: str = ""
    service: str = ""
    session: str = ""
    prompt_id: str = ""
    started_by: str = ""
    prompt: str = ""
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    usd: float | None = None
    folder: str = ""
    project: str = ""
    repository: str = ""
    branch: str = ""
    commit: str = ""
    evaluations: tuple[SpanScore, ...] = ()
    rated: bool | None = None
    is_end: bool = False
    resumes: bool = False


def bounded(text: str, most: int = MOST_CHARS) -> str:
    """Return the beginning and the end of a text that is too long, and any other text as it is.

    Half a surrogate pair, which Python's repr can smuggle in, cannot be stored and is replaced.
    """
    if len(text) > most:
        half = most // 2
        text = f"{text[:half]}\n…\n{text[-half:]}"
    return text if text.isascii() else text.encode(errors="replace").decode()
