"""The shapes of answers, by name: what the OpenAPI document promises of each endpoint."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

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
from trackrecord.resources.operation.status import StatusAnswer
from trackrecord.wire.exposure import ExposureBody

from .endpoint_table import RESOURCES
from .shape import Iso, listed, shape, shape_of

Shape = type[msgspec.Struct]
Object = dict[str, Any]
_CACHED: Final = ("lines", "translations", "lang", "record_lines")

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

_ANSWERS: Final[list[type]] = [
    operation.answer for resource in RESOURCES for operation in resource.operations
]
SHAPES: Final[Mapping[str, Shape]] = {
    each.__name__: each
    for each in (
        *map(shape_of, _ANSWERS),
        RANKINGS, CONTEXT,
        shape_of(StatusAnswer),
    )
}  # fmt: skip
