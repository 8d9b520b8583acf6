"""Put what earlier tasks taught into a prompt: `python examples/ask_before_a_task.py`.

Reading takes a millisecond or two and never raises: without a daemon the agent works as before.
"""

import sys

import trackrecord

TASK = "Mend the nightly build"


def answer_of_model(prompt: str) -> str:
    """Replace this by your model."""
    return f"(an answer to {len(prompt)} characters)"


def main() -> None:
    """Ask, write the prompt, work, and report how it went."""
    with trackrecord.attempt("build-4711", instruction=TASK) as attempt:
        # With the id of the task it is recorded what the task was handed: `trackrecord effect`
        # compares tasks with advice and without.
        known = trackrecord.rankings(task=TASK, task_id="build-4711", budget=800)
        if known.problem:
            sys.stderr.write(f"no advice this time: {known.problem}\n")
        prompt = f"{known.prompt}\n\n## Your task\n\n{TASK}\n".lstrip()
        sys.stdout.write(prompt)
        answer = answer_of_model(prompt)
        attempt.note(success=answer.startswith("("))
    trackrecord.flush(10)


if __name__ == "__main__":
    main()
