"""An agent that reports texts in every way that Python has, as a program of its own."""

import contextlib
import json
import sys

import trackrecord


def main() -> None:
    """Report each text of standard input."""
    for number, text in enumerate(json.load(sys.stdin)):
        for way in (trackrecord.publish, trackrecord.spool):
            way(**outcome(f"{way.__name__}-{number}", text))
        fields = outcome(f"attempt-{number}", text)
        del fields["success"]
        with contextlib.suppress(RuntimeError), trackrecord.attempt(**fields) as attempt:
            attempt.error(text)
            raise RuntimeError(text)
        trackrecord.remember(text, project="secrets", force=True)
        trackrecord.feedback(
            verdict="helpful", criterion=text[:120].strip(), task_id=f"t{number}", project="secrets"
        )
        trackrecord.record_error(
            f"flight-{number}", "tool_failure", text, stack_trace=text, context=text,
            project="secrets", wait=0,
        )  # fmt: skip
        trackrecord.flush(60)
    assert trackrecord.dropped() == {}


def outcome(task_id: str, text: str) -> dict:
    """Return an outcome that says a text wherever it can."""
    return {
        "task_id": task_id,
        "outcome_id": task_id,
        "success": False,
        "project": "secrets",
        "source": "ann",
        "instruction": text,
        "description": text,
        "strategy": text,
        "patterns": [text],
        "criteria": {text[:120]: "helpful"},
        "failure_mode": text[:250],
        "failure_details": text,
        "files_touched": [text],
        "trigger": {"signal": text, "conditions": {"said": text, "more": [text]}},
        "grounds": [{"kind": "test", "says": text}],
        "tool_graph": [
            {"tool": "sh", "args": {"command": text}, "result": {"out": text}, "ok": True},
            {"tool": "sh", "args": [text], "error": text, "ok": False, "actor": text[:250]},
        ],
        "metadata": {"note": text, "notes": [{"said": text}], text: 1},
        "unknown_field": text,
    }


if __name__ == "__main__":
    main()
