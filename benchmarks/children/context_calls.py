"""Ranking, selecting and the whole call, timed one by one in a fresh process; prints JSON.

The arguments: how many calls of each kind, which project, which task, how many candidates.
"""

import json
import random
import sys
from typing import Any

import trackrecord
from benchmarks.harness.timing import time_calls
from trackrecord.prompt.reading.cache import read_document
from trackrecord.redis.client import agent_client
from trackrecord.settings.settings import load_settings

_BUDGET = 4000
_KINDS = ("phase", "task", "decision", "evidence", "agent_context")
_OF_A_CALL = 100


def main() -> None:
    """Time each kind of call."""
    count, project, task, most = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
    settings = load_settings()
    client = agent_client(settings)
    candidates = _candidates(most)
    some = candidates[:_OF_A_CALL]
    text = json.dumps(candidates)
    config = {"max_candidates": most}
    scored = trackrecord.rank(candidates, config).entries

    def rank_and_select(_: int) -> None:
        trackrecord.select(trackrecord.rank(candidates, config), _BUDGET)

    kinds = {
        "rank and select": rank_and_select,
        "json": lambda _: json.loads(text),
        "sorted": lambda _: sorted(
            scored, key=lambda each: (-each.score, -each.candidate.priority, each.candidate.id)
        ),
        "bare": lambda _: read_document(client, settings, project),
        "rankings": lambda _: trackrecord.rankings(project=project, task=task, budget=_BUDGET),
        "context": lambda _: trackrecord.context(project, task, some, _BUDGET),
        "words": lambda _: trackrecord.context(
            project, task, some, _BUDGET, tokenizer=lambda text: len(text.split())
        ),
    }
    print(json.dumps({name: time_calls(call, count).as_dict() for name, call in kinds.items()}))


def _candidates(count: int) -> list[dict[str, Any]]:
    chance = random.Random(5)
    return [
        {
            "id": f"candidate-{number}",
            "kind": chance.choice(_KINDS),
            "text": " ".join(["word"] * chance.randint(10, 80)),
            "priority": chance.randint(0, 3),
            "metadata": {
                "contentType": chance.choice(("prose", "code", "markdown")),
                "dependencyDepth": chance.randint(0, 4),
                "decisionAgeHours": chance.uniform(0, 200),
                "hasFailure": chance.random() < 0.1,
                "hasEvidence": chance.random() < 0.5,
            },
        }
        for number in range(count)
    ]


if __name__ == "__main__":
    main()
