"""The table of endpoints: all of HTTP, apart from posted outcomes.

A resource of `trackrecord/resources` notes its own endpoints. What needs more than a caller's
arguments - the prompt, which has an engine of its own, and the status, which tells callers of one
project less - is a function in `own_calls`, and a row here. The OpenAPI
document follows from all of them.
"""

from typing import Final

from trackrecord.prompt.answers.context_answer import Context
from trackrecord.prompt.answers.rankings_answer import Rankings
from trackrecord.resources.experience.commands import COMMANDS
from trackrecord.resources.experience.competences import COMPETENCES
from trackrecord.resources.experience.criteria import CRITERIA
from trackrecord.resources.experience.lessons import LESSONS
from trackrecord.resources.experience.memories import MEMORIES
from trackrecord.resources.experience.patterns import PATTERNS
from trackrecord.resources.figures.benchmark import BENCHMARK
from trackrecord.resources.figures.effect import EFFECT
from trackrecord.resources.figures.explanations import EXPLANATIONS
from trackrecord.resources.operation.dead_letters import DEAD_LETTERS
from trackrecord.resources.operation.news import NEWS
from trackrecord.resources.operation.projects import PROJECTS
from trackrecord.resources.operation.status import StatusAnswer
from trackrecord.resources.reports.artifacts import ARTIFACTS
from trackrecord.resources.reports.errors_in_flight import ERRORS
from trackrecord.resources.reports.feedback import FEEDBACK
from trackrecord.resources.reports.kinds import KINDS
from trackrecord.resources.reports.runs import RUNS
from trackrecord.resources.reports.strategies import STRATEGIES

from ..protocol.callers import Permission
from . import own_calls
from .endpoint import Endpoint, endpoints_of

_WRITE: Final = Permission.WRITE


def _as_it_is(document: object) -> object:
    return document


PROMPTS: Final = (
    Endpoint(
        "GET", "/rankings", own_calls.show_rankings, Rankings,
        needs_store=False,
        volatile=("age_s",), document=_as_it_is,
    ),
    Endpoint(
        "POST", "/rankings", own_calls.take_rankings, Rankings,
        needs_store=False,
        permission=_WRITE, document=_as_it_is,
    ),
    Endpoint(
        "POST", "/context", own_calls.take_context, Context,
        needs_store=False,
        permission=_WRITE, document=_as_it_is,
    ),
    Endpoint(
        "POST", "/context/preview", own_calls.show_context, Context,
        needs_store=False, document=_as_it_is
    ),
)  # fmt: skip

RESOURCES: Final = (
    CRITERIA, MEMORIES, FEEDBACK, KINDS, LESSONS, COMMANDS, PATTERNS, COMPETENCES, DEAD_LETTERS,
    PROJECTS, EXPLANATIONS, RUNS, ARTIFACTS, BENCHMARK, EFFECT, ERRORS, STRATEGIES,
    NEWS,
)  # fmt: skip

SERVER: Final = (
    Endpoint(
        "GET", "/status", own_calls.read_status, StatusAnswer,
        scope="all", volatile=("oldest_waiting_s", "cache_age_s", "bytes"),
    ),
)  # fmt: skip

ENDPOINTS: Final = (
    *PROMPTS, *SERVER,
    *(each for resource in RESOURCES for each in endpoints_of(resource)),
)  # fmt: skip
