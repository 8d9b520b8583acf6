"""Report how the tasks of a loop went: `python examples/report_outcomes.py`.

Luck stands for the agent's work here; the lines that report stay the same around yours.
Nothing in them raises or waits, and without a daemon the reports go to a spool on disk.
"""

import random
import sys

import trackrecord

TASKS = 40
# How often each way of working reaches the goal. trackrecord is not told, and finds out.
CHANCES = {"Split by component": 0.9, "Split by file type": 0.2}


LUCK = random.Random(7)


def run_tests(chance: float) -> bool:
    """The agent's own judge: tests, a reviewer, a customer."""
    return LUCK.random() < chance


def main() -> None:
    """Work on the tasks, and report each."""
    for number in range(TASKS):
        strategy, chance = LUCK.choice(list(CHANCES.items()))
        task = f"build-{number}"
        with trackrecord.attempt(
            task, strategy=strategy, instruction="Mend the nightly build"
        ) as attempt:
            attempt.tool("read_log", ok=True)
            attempt.tool("edit_file", ok=True)
            is_done = run_tests(chance)
            attempt.tool("run_tests", ok=is_done, error=None if is_done else "2 tests failed")
            attempt.note(success=is_done)
    trackrecord.flush(10)  # at the end of the program: what is still on its way
    sys.stdout.write(f"reported {TASKS} tasks, dropped: {trackrecord.dropped() or 'nothing'}\n")


if __name__ == "__main__":
    main()
