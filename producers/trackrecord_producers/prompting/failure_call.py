"""The call that agents make after a call of a tool failed: one line of what is known of it."""

from __future__ import annotations

from functools import partial
from typing import Final

from trackrecord.learning.text.project_names import DEFAULT_PROJECT
from trackrecord.process.machines import this_machine
from trackrecord.prompt.reading.client import process_reader
from trackrecord.prompt.reading.failure_hints import FailedCall, FailureHints, probability_in
from trackrecord.wire.tried_calls import failed_call

from .rankings_call import publish_hint

_LONGEST_NAME: Final = 200
_SHELL: Final = "shell"
_hints: Final = FailureHints()


def after_failure(
    tool: str,
    *,
    command: str = "",
    path: str = "",
    arguments: object = None,  # noqa: ARG001 - see below
    error: object = "",
    session: str = "",
    agent: str = "",
    project: str | None = None,
    source: str = "",
) -> str:
    """Return one line on a call of a tool that has just failed; "" if nothing is known of it.

    Put it behind the error that the model reads. It names a command that ran, where a file was
    found, or says that the call has failed in each of the last sessions. Each fact is told once a
    session and agent, at most three a session, and nothing that the error says itself.

    Never raises, and waits for Redis no longer than `rankings` does: without it, "" is returned.

    Args:
        tool: the name of the tool, as in the calls that you report.
        command: the command line, if the tool is a shell.
        path: the file that the call was about, for a tool for files.
        arguments: read no more; callers written for 0.1 may go on passing it.
        error: the text of the error, or the exception.
        session: the session or conversation; `metadata={"session": …}` of the outcomes. Without
            one, the process is the session.
        agent: which agent of the session called, where there are several.
        project: whose history; the settings' project when not given.
        source: the agent, as its outcomes name it.
    """
    try:
        reader = process_reader()
        name = project or reader.settings.project or DEFAULT_PROJECT
        text = str(error)
        call = failed_call(str(tool), command=str(command), path=str(path), error=text)
        if call is None:
            return ""
        document = reader.moments(name)
        failed = FailedCall(
            call=call,
            error=text,
            session=str(session)[:_LONGEST_NAME],
            agent=str(agent)[:_LONGEST_NAME],
            machine=this_machine(),
        )
        decided = _hints.decide(
            name, document, failed, partial(probability_in, reader.settings.home)
        )
        if decided is not None and failed.session:
            publish_hint(decided.report(name, failed, source))
    except Exception:  # noqa: BLE001 - nothing may reach the agent
        return ""
    return "" if decided is None else decided.text


def known_of_failure(command: str, error: str, *, project: str) -> str:
    """Return what is known of a command that failed, for somebody who asks; "" for nothing.

    Whoever asks is answered each time, and no trial decides. Never raises.

    Args:
        command: the command line.
        error: the text of its error.
        project: whose history.
    """
    try:
        call = failed_call(_SHELL, command=command, path="", error=error)
        if call is None:
            return ""
        document = process_reader().moments(project)
        failed = FailedCall(call=call, error=error, session="", machine=this_machine())
        decided = FailureHints().decide(project, document, failed, lambda _points: 1.0)
    except Exception:  # noqa: BLE001 - nothing may reach the agent
        return ""
    return "" if decided is None else decided.hint.text
