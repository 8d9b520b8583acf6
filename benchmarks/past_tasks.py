"""Finding the right past task among a hundred thousand while a prompt is written."""

import json
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate

import redis
from sqlalchemy import Engine

from trackrecord.changes.memories import find_similar_tasks
from trackrecord.factories import scorer_of
from trackrecord.prompt.cache import write_advice
from trackrecord.prompt.client import RankingsReader
from trackrecord.prompt.past_task_cache import find_tasks
from trackrecord.prompt.relevance import similar_past_tasks
from trackrecord.queries.advice import build_advice
from trackrecord.settings import Settings
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord.store.database.migrate import migrate
from trackrecord.store.intake.intake import learn
from trackrecord.wire.outcome import decode_outcome, encode_body
from trackrecord_worker.past_tasks import PastTaskIndexer
from trackrecord_worker.refresh import RankingsRefresher

from .asking import ask
from .figures import Baseline, Figure, Measured, at_least, at_most
from .scale import Scale
from .servers import bench_settings, running_redis
from .timing import Latency

PROJECT = "fleet"
_P50_MS, _P99_MS = 2.0, 5.0
_MOST_BYTES = 1024.0
_LEAST_HITS = 90.0
_WORDS = 30_000
_PLANTED = 400
_NEAR = 5
_BATCH = 2_000
_MOST_READS = 2_000
_TOP = 3


@dataclass(frozen=True)
class World:
    """Past tasks, and questions of which it is known which one is the right answer.

    Attributes:
        texts: the instructions, the oldest first; its place is the number of a task.
        questions: by the number of the right task, the text that asks for it.
    """

    texts: list[str]
    questions: dict[int, str]


def measure(scale: Scale) -> Measured:
    """Learn past tasks, let them be found, and ask for some of them in other words."""
    world = make_world(scale.past_tasks)
    with bench_settings() as settings, running_redis(settings) as client:
        engine = connect_store(settings.effective_database_url)
        try:
            _learn(engine, settings, world)
            took_s = _cache(engine, client, settings)
            figures = [
                *_reads(settings, world, scale.reads),
                *_hits(engine, client, settings, world),
                *_costs(client, settings, took_s, len(world.texts)),
            ]
        finally:
            engine.dispose()
    return Measured(
        f"{len(world.texts):,} past tasks of 6 to 24 words out of {_WORDS:,}, as unevenly frequent "
        f"as those of a language; {_PLANTED} of them, of any age, have {_NEAR} near duplicates and "
        "are asked for with a third of their words left out or replaced; advice is counted from "
        f"the newest {settings.advice.max_runs:,}",
        tuple(figures),
    )


def make_world(count: int, seed: int = 3) -> World:
    """Return past tasks and questions."""
    chance = random.Random(seed)
    words = [_word(number) for number in range(_WORDS)]
    weights = list(accumulate(1.0 / (2 + rank) for rank in range(_WORDS)))

    def some(count: int) -> list[str]:
        return chance.choices(words, cum_weights=weights, k=count)

    texts = [some(chance.randint(6, 24)) for _ in range(count)]
    places = chance.sample(range(count), _PLANTED * (1 + _NEAR))
    planted = places[:_PLANTED]
    for place, number in zip(places[_PLANTED:], planted * _NEAR, strict=True):
        texts[place] = _reworded(texts[number], some, chance, 0.4)
    questions = {
        number: " ".join(_reworded(texts[number], some, chance, 0.33)) for number in planted
    }
    return World([" ".join(text) for text in texts], questions)


def _word(number: int) -> str:
    letters = ""
    while number:
        number, letter = divmod(number, 20)
        letters += "bcdfghjklmnpqrstvwxz"[letter] + "aeiou"[letter % 5]
    return f"{letters}n"


def _reworded(
    text: list[str], some: Callable[[int], list[str]], chance: random.Random, share: float
) -> list[str]:
    kept = [word for word in text if chance.random() >= share]
    return kept + some(len(text) - len(kept))


def _learn(engine: Engine, settings: Settings, world: World) -> None:
    migrate(engine)
    scorer, now = scorer_of(settings.rules), time.time()
    for start in range(0, len(world.texts), _BATCH):
        scored = []
        for number, text in enumerate(world.texts[start : start + _BATCH], start):
            body = encode_body(
                {
                    "project": PROJECT,
                    "task_id": f"task-{number}",
                    "success": number % 3 > 0,
                    "instruction": text,
                    "timestamp": now - 60.0 * (len(world.texts) - number),
                    "tool_graph": [
                        {"tool": f"read_{number % 7}"},
                        {"tool": f"edit_{number % 31}", "ok": number % 3 > 0},
                    ],
                }
            )
            outcome = decode_outcome(body)
            scored.append(
                scorer.score(outcome, body, received_at=now, outcome_id=f"outcome-{number}")
            )
        with writing(engine) as connection:
            learn(connection, scored, settings.rules, now=now)


def _cache(engine: Engine, client: redis.Redis, settings: Settings) -> float:
    """Write all that agents read; return the seconds that the past tasks took."""
    RankingsRefresher(engine, client, settings).refresh(PROJECT)
    with reading(engine) as connection:
        advice = build_advice(connection, PROJECT, settings.rules, now=time.time())
    write_advice(client, settings, advice, cost_s=0.0)
    started = time.perf_counter()
    PastTaskIndexer(engine, client, settings).update(PROJECT)
    return time.perf_counter() - started


def _reads(settings: Settings, world: World, reads: int) -> Iterator[Figure]:
    count = min(reads, _MOST_READS)
    texts = list(world.questions.values())
    questions = [texts[number % len(texts)] for number in range(count)]
    (settings.home / "questions.json").write_text(json.dumps(questions))
    answers = ask(settings, "past_task_reads", PROJECT, str(settings.home / "questions.json"))
    took = {kind: Latency(**latency) for kind, latency in answers.items()}
    for kind, floors in (("processor", (_P99_MS, _P50_MS)), ("waiting", (None, None))):
        found, without = took[f"with, {kind}"], took[f"without, {kind}"]
        name = f"rankings for a task, {kind} time" if floors[0] else "the same with all waits"
        p99 = Baseline("without past tasks, p99", without.p99 / 1000)
        p50 = Baseline("without past tasks, p50", without.p50 / 1000)
        bounds = [None if floor is None else at_most(floor) for floor in floors]
        yield Figure(f"{name}, p99", found.p99 / 1000, "ms", bounds[0], (p99,))
        yield Figure(f"{name}, p50", found.p50 / 1000, "ms", bounds[1], (p50,))


def _hits(
    engine: Engine, client: redis.Redis, settings: Settings, world: World
) -> Iterator[Figure]:
    document = RankingsReader(settings).cached(PROJECT).document
    assert document is not None  # noqa: S101 - it was written before
    found, newest, searched = 0, 0, 0
    for number, question in world.questions.items():
        right = f"task-{number}"
        best = find_tasks(client, settings.keys, PROJECT, question) or ()
        found += right in [each.record.task_id for each in best[:_TOP]]
        among = similar_past_tasks(document.past_tasks, question)
        newest += right in [each.task_id for each in among[:_TOP]]
        tasks = find_similar_tasks(engine, settings, PROJECT, question, limit=_TOP)
        searched += right in [each.task_id for each in tasks]
    share = 100 / len(world.questions)
    yield Figure(
        f"the right task is among the best {_TOP}", found * share, "%", at_least(_LEAST_HITS),
        (
            Baseline("the newest 100 alone", newest * share),
            Baseline("`memories similar`, from the store", searched * share),
        ),
    )  # fmt: skip


def _costs(client: redis.Redis, settings: Settings, took_s: float, count: int) -> Iterator[Figure]:
    keys = settings.keys
    size = sum(
        client.memory_usage(key, samples=0) or 0
        for key in (
            keys.past_tasks(PROJECT), keys.past_task_words(PROJECT), keys.past_task_order(PROJECT)
        )
    )  # fmt: skip
    yield Figure("Redis's memory for each past task", size / count, "bytes", at_most(_MOST_BYTES))
    yield Figure("Redis's memory for all", size / 2**20, "MiB")
    yield Figure("a worker's time for each past task", took_s / count * 1e6, "µs")
