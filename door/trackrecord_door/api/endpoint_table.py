"""The table of endpoints: all that HTTP offers, beside the outcomes that are posted.

A resource of `trackrecord/resources` notes its own endpoints. Of what is no such resource yet, a
new question is a function in `trackrecord/queries`, a call in `trackrecord/calls` that
`trackrecord/__init__.py` exports, a shape of its answer in `shapes`, and a row here; a new change
has its function in `trackrecord/changes`. Only what the Python API lacks or does otherwise is a
function in one of the `*_calls` modules. The OpenAPI document follows from all of them.
"""

from typing import Final

import trackrecord
from trackrecord.queries import sorting
from trackrecord.resources.commands import COMMANDS
from trackrecord.resources.competences import COMPETENCES
from trackrecord.resources.criteria import CRITERIA
from trackrecord.resources.explanations import EXPLANATIONS
from trackrecord.resources.feedback import FEEDBACK
from trackrecord.resources.kinds import KINDS
from trackrecord.resources.lessons import LESSONS
from trackrecord.resources.memories import MEMORIES
from trackrecord.resources.patterns import PATTERNS

from ..callers import Permission
from . import (
    artifact_calls,
    benchmark_calls,
    criterion_calls,
    error_calls,
    prompt_calls,
    server_calls,
    strategy_calls,
)
from .endpoint import Endpoint, Paging, endpoints_of

_WRITE: Final = Permission.WRITE
_ADMIN: Final = Permission.ADMIN


def _as_it_is(document: object) -> object:
    return document


PROMPTS: Final = (
    Endpoint(
        "GET", "/rankings", prompt_calls.show_rankings, "Rankings",
        needs_store=False,
        volatile=("age_s",), document=_as_it_is,
    ),
    Endpoint(
        "POST", "/rankings", prompt_calls.take_rankings, "Rankings",
        needs_store=False,
        permission=_WRITE, document=_as_it_is,
    ),
    Endpoint(
        "POST", "/context", prompt_calls.take_context, "Context",
        needs_store=False,
        permission=_WRITE, document=_as_it_is,
    ),
    Endpoint(
        "POST", "/context/preview", prompt_calls.show_context, "Context",
        needs_store=False, document=_as_it_is
    ),
)  # fmt: skip

STRATEGIES: Final = (
    Endpoint(
        "GET", "/strategies", strategy_calls.find_strategies, "Strategy",
        needs_store=False,
        is_list=True, scope="none", document=_as_it_is,
    ),
)  # fmt: skip

WEIGHING: Final = (
    Endpoint(
        "POST", "/criteria/weigh", criterion_calls.weigh_scores, "Weighing", document=_as_it_is
    ),
)

ERRORS: Final = (
    Endpoint(
        "GET", "/errors", error_calls.list_errors, "TaskError",
        needs_store=False,
        paging=Paging(sorting.ERRORS), document=error_calls.error_document,
    ),
    Endpoint(
        "POST", "/errors", error_calls.record_error, "RecordedError",
        needs_store=False,
        permission=_WRITE, status=201, document=_as_it_is,
    ),
    Endpoint(
        "GET", "/errors/context", error_calls.error_context, "ErrorContext",
        needs_store=False, document=_as_it_is
    ),
    Endpoint("GET", "/errors/stats", error_calls.error_stats, "ErrorStats",
        needs_store=False, document=_as_it_is),
    Endpoint(
        "POST", "/errors/{error_id:path}/resolve", error_calls.resolve_error, "ResolvedError",
        needs_store=False,
        permission=_WRITE, document=_as_it_is,
    ),
)  # fmt: skip

RESOURCES: Final = (
    CRITERIA, MEMORIES, FEEDBACK, KINDS, LESSONS, COMMANDS, PATTERNS, COMPETENCES, EXPLANATIONS,
)  # fmt: skip

RUNS: Final = (
    Endpoint("GET", "/runs", trackrecord.list_runs, "Run", paging=Paging(by_call=True)),
    Endpoint("GET", "/runs/{outcome_id:path}", trackrecord.show_run, "Run"),
    Endpoint("GET", "/effect", trackrecord.effect, "Effect"),
)  # fmt: skip

ARTIFACTS: Final = (
    Endpoint(
        "GET", "/artifacts", artifact_calls.list_artifacts, "Artifact",
        needs_store=False,
        paging=Paging(sorting.ARTIFACTS), document=artifact_calls.output_document,
    ),
    Endpoint(
        "GET", "/artifacts/{artifact_id}", artifact_calls.read_artifact, "ArtifactPage",
        needs_store=False,
        document=_as_it_is,
    ),
    Endpoint(
        "POST", "/artifacts", artifact_calls.store_artifact, "StoredArtifact",
        needs_store=False,
        permission=_WRITE, status=201, document=_as_it_is,
    ),
)  # fmt: skip

BENCHMARK: Final = (
    Endpoint(
        "GET", "/benchmark/runs", trackrecord.benchmark_runs, "BenchmarkRun",
        is_list=True, document=benchmark_calls.run_document,
    ),
    Endpoint(
        "POST", "/benchmark/runs", trackrecord.benchmark_run, "BenchmarkSnapshot",
        permission=_WRITE, status=201,
    ),
    Endpoint("GET", "/benchmark/gate", trackrecord.benchmark_gate, "Gate"),
)  # fmt: skip

SERVER: Final = (
    Endpoint(
        "GET", "/projects", server_calls.list_projects, "Project",
        paging=Paging(sorting.PROJECTS), scope="all",
    ),
    Endpoint(
        "GET", "/status", server_calls.read_status, "Status",
        scope="all", volatile=("oldest_waiting_s", "cache_age_s"), document=_as_it_is,
    ),
    Endpoint(
        "GET", "/dead-letters", server_calls.list_dead_letters, "DeadLetter",
        needs_store=False,
        paging=Paging(sorting.DEAD_LETTERS, by_call=True), scope="all",
    ),
    Endpoint(
        "POST", "/dead-letters/replay", server_calls.replay_dead_letters, "Replayed",
        needs_store=False,
        permission=_ADMIN, scope="all", document=_as_it_is,
    ),
    Endpoint(
        "POST", "/dead-letters/discard", server_calls.discard_dead_letters, "Discarded",
        needs_store=False,
        permission=_ADMIN, scope="all", document=_as_it_is,
    ),
)  # fmt: skip

ENDPOINTS: Final = (
    *PROMPTS, *STRATEGIES, *WEIGHING, *ERRORS, *RUNS,
    *ARTIFACTS, *BENCHMARK, *SERVER,
    *(each for resource in RESOURCES for each in endpoints_of(resource)),
)  # fmt: skip
