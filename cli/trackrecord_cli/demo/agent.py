"""One agent of the demo, in a process of its own: publishes as any agent would."""

import argparse
import time

import trackrecord

from .planted import reports

# A simulated agent works a thousand times faster than a real one: now and then it must wait for
# the background thread, or the bounded queue would drop what it says.
_FLUSH_EVERY = 1000
_FLUSH_TIMEOUT_S = 30.0


def main() -> None:
    """Publish this agent's outcomes and end."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--agent", type=int, required=True)
    parser.add_argument("--outcomes", type=int, required=True)
    given = parser.parse_args()
    told = reports(seed=given.seed, agent=given.agent, outcomes=given.outcomes, now=time.time())
    for number, report in enumerate(told, start=1):
        trackrecord.publish(**report)
        if number % _FLUSH_EVERY == 0:
            trackrecord.flush(timeout=_FLUSH_TIMEOUT_S)
    trackrecord.flush(timeout=_FLUSH_TIMEOUT_S)


if __name__ == "__main__":
    main()
