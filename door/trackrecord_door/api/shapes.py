"""The shapes of answers, by name, for each endpoint in the OpenAPI document."""

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from trackrecord.artifacts.pages import Range
from trackrecord.inflight.errors import ErrorStats, ErrorType, TaskError
from trackrecord.learning.criteria.evaluation import WeightedEvaluation
from trackrecord.prompt.answers.context_answer import Considered, Context
from trackrecord.prompt.answers.rankings_answer import Rankings
from trackrecord.prompt.answers.why import Why
from trackrecord.prompt.documents.advice_document import LessonEntry
from trackrecord.prompt.documents.rankings_document import (
    RankedCompetence,
    RankedCriterion,
    RankedFailure,
    RankedMemory,
    RankedPattern,
    RankedProcedure,
    RankedTask,
)
from trackrecord.queries.status import StatusReport
from trackrecord.wire.exposure import ExposureBody

from .endpoint_table import RESOURCES
from .shape import Iso, listed, shape, shape_of

Shape = type[msgspec.Struct]
Object = dict[str, Any]
_CACHED: Final = ("lines", "translations", "lang", "record_lines")

STRATEGY: Final = shape("Strategy", more={"id": str, "name_en": str, "name_zh": str})

_COUNTED: Final = shape("Counted", more={"tasks": int, "mean": float})
COMPARISON: Final = shape(
    "Comparison",
    more={
        "measure": str, "given": _COUNTED, "withheld": _COUNTED, "difference": float | None,
        "low": float | None, "high": float | None, "verdict": str,
    },
)  # fmt: skip
_BOTH: Final = shape("BothArms", more={"given": int, "withheld": int})
_WITHDRAWN: Final = shape("Withdrawn", more={"id": str, "by": str, "reason": str, "at": Iso})
EFFECT: Final = shape(
    "Effect",
    more={
        "project": str, "as_of": Iso | None, "holdout": float, "tasks": _BOTH,
        "without_outcome": _BOTH, "nothing_to_hand_out": int, "more_tasks_needed": int | None,
        "measures": listed(COMPARISON),
        "kinds": listed(shape("KindEffect", COMPARISON, more={"kind": str})),
        "entries": listed(shape(
                "EntryEffect", COMPARISON,
                more={
                    "id": str, "handed_out": int, "would_have_been": int, "followed": int | None,
                    "succeeded": int | None, "withdrawn": bool,
                },
            )),
        "withdrawn": listed(_WITHDRAWN),
    },
)  # fmt: skip

# What is handed out.
EXPOSURE: Final = shape("Exposure", more={"task_id": str}, maybe={
    name: kind for name, kind in {
        "entries": list[str], "project": str, "exposure_id": str, "at": float, "withheld": bool,
        "holdout": float, "propensity": float, "revision": int,
    }.items() if name in ExposureBody.__struct_fields__
})  # fmt: skip


def _ranked(name: str, source: type) -> Any:  # noqa: ANN401 - a type that is made here
    return listed(shape(name, source, without=_CACHED))


_RANKED_PATTERNS: Final = _ranked("RankedPattern", RankedPattern)
RANKINGS: Final = shape(
    "Rankings", Rankings, without=["_explanation"],
    more={
        "lessons": _ranked("RankedLesson", LessonEntry),
        "patterns": _RANKED_PATTERNS,
        "anti_patterns": _RANKED_PATTERNS,
        "failing": _ranked("RankedFailure", RankedFailure),
        "procedures": _ranked("RankedProcedure", RankedProcedure),
        "competences": _ranked("RankedCompetence", RankedCompetence),
        "memories": _ranked("RankedMemory", RankedMemory),
        "past_tasks": _ranked("RankedTask", RankedTask),
        "criteria": _ranked("RankedCriterion", RankedCriterion),
        "exposure": EXPOSURE | None, "why": list[Why], "as_of": Iso | None,
    },
)  # fmt: skip
_CONSIDERED: Final = listed(shape("Considered", Considered, without=_CACHED))
CONTEXT: Final = shape(
    "Context", Context,
    more={
        "taken": _CONSIDERED,
        "left_out": _CONSIDERED,
        "exposure": EXPOSURE | None,
    },
)  # fmt: skip

# Errors of tasks in flight.
ERROR: Final = shape("TaskError", TaskError, moments=["at"])
ERROR_CONTEXT: Final = shape(
    "ErrorContext",
    more={"task_id": str, "context": str, "strikes": int, "errors": listed(ERROR)},
)

# Stored outputs.
_KIND_OF_OUTPUT: Final = str | None

_ANSWERS: Final[list[type]] = [
    operation.answer for resource in RESOURCES for operation in resource.operations
]
SHAPES: Final[Mapping[str, Shape]] = {
    each.__name__: each
    for each in (
        *map(shape_of, _ANSWERS),
        RANKINGS, CONTEXT, STRATEGY, EFFECT, ERROR_CONTEXT, ERROR,
        shape(
            "Weighing", WeightedEvaluation, more={"project": str, "as_of": Iso | None}
        ),
        shape("RecordedError", more={"id": str, "task_id": str, "type": ErrorType}),
        shape("ErrorStats", ErrorStats, without=["problem"]),
        shape("ResolvedError", more={"id": str, "resolved": Literal[True]}),
        shape(
            "ArtifactPage",
            more={
                "id": str, "kind": _KIND_OF_OUTPUT, "size": int, "lines": int | None, "start": int,
                "end": int, "encoding": Literal["utf-8", "base64"], "content": str,
                "following": Range | None,
            },
        ),
        shape(
            "StoredArtifact",
            more={
                "id": str, "kind": _KIND_OF_OUTPUT, "size": int, "lines": int | None, "gone": int,
                "task_id": str | None, "tool": str | None, "summary": str,
            },
        ),
        shape(
            "Status", StatusReport, moments=["last_learnt", "last_consolidation"],
            more={"home": str | None, "redis": str | None, "database": str | None},
        ),
    )
}  # fmt: skip
