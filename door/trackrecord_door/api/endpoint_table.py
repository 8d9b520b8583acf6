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
from trackrecord.resources.artifacts import ARTIFACTS
from trackrecord.resources.benchmark import BENCHMARK
from trackrecord.resources.competences import COMPETENCES
from trackrecord.resources.criteria import CRITERIA
from trackrecord.resources.dead_letters import DEAD_LETTERS
from trackrecord.resources.explanations import EXPLANATIONS
from trackrecord.resources.feedback import FEEDBACK
from trackrecord.resources.kinds import KINDS
from trackrecord.resources.lessons import LESSONS
from trackrecord.resources.memories import MEMORIES
from trackrecord.resources.patterns import PATTERNS
from trackrecord.resources.projects import PROJECTS
from trackrecord.resources.runs import RUNS

from ..callers import Permission
from . import (
    artifact_calls,
    criterion_calls,
    error_calls,
    prompt_calls,
    server_calls,
    strategy_calls,
)
from .endpoint import Endpoint, Paging, endpoints_of

_WRITE: Final = Permission.WRITE


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
    CRITERIA, MEMORIES, FEEDBACK, KINDS, LESSONS, PATTERNS, COMPETENCES, DEAD_LETTERS, PROJECTS,
    EXPLANATIONS, RUNS, ARTIFACTS, BENCHMARK,
)  # fmt: skip

EFFECTS: Final = (
    Endpoint("GET", "/effect", trackrecord.effect, "Effect"),
)  # fmt: skip

STORED_OUTPUTS: Final = (
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

SERVER: Final = (
    Endpoint(
        "GET", "/status", server_calls.read_status, "Status",
        scope="all", volatile=("oldest_waiting_s", "cache_age_s"), document=_as_it_is,
    ),
)  # fmt: skip

ENDPOINTS: Final = (
    *PROMPTS, *STRATEGIES, *WEIGHING, *ERRORS, *EFFECTS, *STORED_OUTPUTS, *SERVER,
    *(each for resource in RESOURCES for each in endpoints_of(resource)),
)  # fmt: skip
