"""The inputs of a prompt: question, documents, rules, and what is expected of the task."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from trackrecord.learning.advice.exploring import Draw
from trackrecord.learning.competences.conditions import (
    UNKNOWN,
    Fit,
    KnownTrigger,
    Values,
    fit_of_record,
    values_of,
)
from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.learning.text.language import Language

from ..documents.advice_document import AdviceDocument, LessonEntry, PatternEntry, ProcedureEntry
from ..documents.rankings_document import RankedCompetence, RankingsDocument, made_once
from ..question.question import PromptQuestion
from ..question.rules import ContextRules
from .exposure import AS_THEY_ARE, ExposurePlan

if TYPE_CHECKING:
    from .expectation import Expectation

ComparedBy = Literal["words", "embeddings"]


@dataclass(frozen=True)
class Meaning:
    """The similarity of a task's embedding to those of competence records.

    Attributes:
        cosines: of the records nearest to the task, by their ids.
        compared: the ids of all records that have an embedding.
        least: the cosine below which a record has nothing to do with the task.
    """

    cosines: Mapping[str, float]
    compared: frozenset[str]
    least: float


def compared_by(task: str | None, meaning: Meaning | None) -> ComparedBy | None:
    """Return the way of comparing a task with competence records; None without a task."""
    if not task:
        return None
    return "words" if meaning is None else "embeddings"


_Made = TypeVar("_Made")

# The least relevance of what has to do with a task.
LEAST_RELEVANCE: Final = 0.1
# The least probability of the tools of what has to do with a task.
LEAST_PROBABLE: Final = 0.25


@dataclass(frozen=True)
class PromptRules:
    """The rules of making a prompt.

    Attributes:
        context: what is ranked and counted by.
        memories: how memories are ranked for a task.
    """

    context: ContextRules = field(default_factory=ContextRules)
    memories: MemoryRules = field(default_factory=MemoryRules)


USUAL_RULES: Final = PromptRules()


@dataclass(frozen=True)
class PromptInputs:
    """The documents and the question.

    Attributes:
        question: what is asked for.
        document: the project's rankings.
        advice: what is counted from its runs; None when nothing was counted yet.
        rules: what the prompt is made by.
        exposure_plan: what is withheld from the task, and tried on it.
        meaning: how similar the task's embedding is to those of competence records; None where it
            is compared by words.
    """

    question: PromptQuestion
    document: RankingsDocument
    advice: AdviceDocument | None
    rules: PromptRules = USUAL_RULES
    exposure_plan: ExposurePlan = AS_THEY_ARE
    meaning: Meaning | None = None

    @cached_property
    def task(self) -> str:
        """The text of the task at hand; "" for none."""
        return self.question.task or ""

    @cached_property
    def language(self) -> Language:
        """The language of the lines."""
        return self.question.language

    @cached_property
    def expectation(self) -> "Expectation":
        """Return the expectation about the task from similar past tasks."""
        # Imported only where runs are counted: it takes an agent's memory.
        from .expectation import Expectation, expectation_of

        if self.advice is None or not self.task:
            return Expectation()
        return expectation_of(self.advice, self.task)

    @cached_property
    def conditions(self) -> Values | None:
        """The conditions of the task, as they are compared; None without any."""
        conditions = self.question.conditions
        return None if conditions is None else values_of(conditions)

    def fits_of(self, records: Iterable[RankedCompetence]) -> dict[str, Fit]:
        """Return how far the task's conditions agree with those of records, by their ids.

        Nothing without conditions.
        """
        asked = self.conditions
        if asked is None:
            return {}
        return {
            record.id: fit_of_record(asked, self.triggers_of(record), self.task)
            for record in records
        }

    def triggers_of(self, record: RankedCompetence) -> tuple[KnownTrigger, ...]:
        """Return a record's triggers: read once for a document, and not for each prompt."""
        read = self.document.once("triggers", _nothing_read)
        if record.id not in read:
            read[record.id] = record.known_triggers
        return read[record.id]

    def fit_of_signature(self, signature: str) -> Fit:
        """Return how far the task's conditions agree with those of a procedure's record."""
        if self.conditions is None:
            return UNKNOWN
        found = self._fits.get(signature)
        if found is None:
            # Of several records of one procedure the one that fits best speaks for it.
            records = self.document.once("signatures", _by_signature)
            fits = self.fits_of(records.get(signature, ()))
            found = self._fits[signature] = max(fits.values(), default=UNKNOWN)
        return found

    @cached_property
    def _fits(self) -> dict[str, Fit]:
        # What is recommended and how sure the choice is ask for the same procedures.
        return {}

    @property
    def can_tell(self) -> bool:
        """Return whether similar past tasks say which entries are relevant to the task."""
        return self.advice is not None and bool(self.expectation.similar)

    @cached_property
    def draws(self) -> Mapping[str, Draw]:
        """Return the draws of entries, by field: a text without patterns tries none."""
        wanted = self.question.sections
        return {name: draw for name, draw in self.exposure_plan.draws.items() if wanted.has(name)}

    @property
    def draw(self) -> Draw | None:
        """Return the draw of patterns; None if none is tried."""
        return self.draws.get("patterns")

    def can_use(self, tools: Iterable[str]) -> bool:
        """Return whether the asking agent has these tools, as far as its runs show.

        Of an agent without runs nothing is known but what most of the agents have got.
        """
        if not self.foreign_tools:
            return True
        # Few projects have agents of several kinds: the others do without.
        from trackrecord.learning.advice.runs.agent_tools import capability_of

        return not any(capability_of(tool) in self.foreign_tools for tool in tools)

    @cached_property
    def foreign_tools(self) -> frozenset[str]:
        """Return the tools of the project's agents that the asking agent lacks."""
        if self.advice is None:
            return frozenset()
        source = self.question.source if self.question.source in self.advice.agents else None
        return self.advice.once(f"tools that {source} lacks", partial(_lacking, source))

    def is_of_another_client(self, entry: object) -> bool:
        """Return whether a lesson is about another coding agent's own tool, and no other met it.

        `Edit` and `apply_patch` are one word on record, but fail for reasons of their own. Of an
        agent whose tools are not known, that cannot be told.
        """
        if not (isinstance(entry, LessonEntry) and entry.only_source and self.own_tool_names):
            return False
        assert self.advice is not None  # noqa: S101 - it names the tools
        words = self.advice.tool_names.get(entry.only_source, {})
        return entry.only_source != self.question.source and entry.tools[0] in words

    @cached_property
    def own_tool_names(self) -> Mapping[str, str]:
        """The asking agent's own names of tools, by the words that are on record.

        Nothing of an agent that is not known: it is told the words.
        """
        if self.advice is None or self.question.source is None:
            return {}
        return self.advice.tool_names.get(self.question.source, {})

    @cached_property
    def kind(self) -> int | None:
        """Return the task's more probable kind; None if there is none."""
        return self.expectation.kind

    @cached_property
    def patterns(self) -> Mapping[str, PatternEntry]:
        """The estimates of patterns, by slug."""
        return {} if self.advice is None else self.advice.once("patterns", _patterns)

    @cached_property
    def procedures(self) -> Mapping[str, ProcedureEntry]:
        """The procedures, by signature."""
        return {} if self.advice is None else self.advice.once("procedures", _procedures)

    def once_for_both(
        self, name: str, make: Callable[["PromptInputs"], _Made], *, kind: int | None = None
    ) -> _Made:
        """Return a value derived from both documents, computed once and not for each prompt.

        Args:
            name: what is made.
            make: makes it.
            kind: the kind of task that it is made for; None where it is the same for all.
        """
        return made_once(self.document, self.advice, name, kind, lambda: make(self))


def _patterns(advice: AdviceDocument) -> dict[str, PatternEntry]:
    return {each.slug: each for each in advice.patterns}


def _procedures(advice: AdviceDocument) -> dict[str, ProcedureEntry]:
    return {each.signature: each for each in advice.procedures}


def _nothing_read(_: RankingsDocument) -> dict[str, tuple[KnownTrigger, ...]]:
    return {}


def _by_signature(document: RankingsDocument) -> dict[str, list[RankedCompetence]]:
    found: dict[str, list[RankedCompetence]] = {}
    for record in document.competences:
        found.setdefault(record.signature, []).append(record)
    return found


def _lacking(source: str | None, advice: AdviceDocument) -> frozenset[str]:
    """Return the tools of agents that one of them lacks; None for an unknown one."""
    by_agent = {name: frozenset(tools) for name, tools in advice.agents.items()}
    if source is None:
        having = Counter(tool for tools in by_agent.values() for tool in tools)
        own = frozenset(tool for tool, agents in having.items() if 2 * agents > len(by_agent))
    else:
        own = by_agent[source]
    return frozenset().union(*by_agent.values()) - own
