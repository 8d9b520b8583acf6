"""The advice document: counts over a project's runs, as cached for agents.

The worker writes it beside the rankings. At prompt time everything is a function of both and of the
task's text.
"""

from typing import Final

import msgspec

from trackrecord.learning.advice.moments.facts import UsualLine
from trackrecord.learning.advice.tasks.task_index import TaskIndex

from .labels import Document, Labelled

# What stands for "not among the procedures".
NO_PROCEDURE: Final = 0xFFFFFFFF


class Expected(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The success rate of a subject, and of other runs of such tasks.

    Attributes:
        a: decayed successes and the prior's, of the Beta posterior that draws have.
        b: decayed failures and the prior's.
        mean: the posterior's mean.
        low: the interval's lower end.
        high: its upper end.
        runs: the runs that it was counted from.
        tasks: the distinct tasks among them.
        successes: the successful ones among the runs.
        effect: the difference to what such tasks do otherwise; None where nothing can be compared.
        effect_low: the lower end of its interval.
        effect_high: the upper end.
        level: what was counted: "procedure in kind", "procedure", "kind", "pattern" or "project".
        usual: the rate that such tasks have otherwise.
        order_key: the rate by which things are put in order, in which few runs never lead.
        is_worth_recommending: whether it probably does better than such tasks do otherwise.
        is_surely_better: whether it does by more than chance, however many were tested.
    """

    a: float
    b: float
    mean: float
    low: float
    high: float
    runs: int = 0
    tasks: int = 0
    successes: int = 0
    effect: float | None = None
    effect_low: float | None = None
    effect_high: float | None = None
    level: str = "project"
    usual: float = 0.5
    order_key: float = 0.5
    is_worth_recommending: bool = True
    is_surely_better: bool = False


class ExpectedInKind(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The success rate at one kind of task; see `Expected`.

    Attributes:
        runs: its runs at such tasks.
        successes: the successful ones among them.
        a: decayed successes and the prior's, of the Beta posterior that draws have.
        b: decayed failures and the prior's.
        order_key: the rate by which things are put in order.
        is_worth_recommending: whether it probably does better than such tasks do otherwise.
        effect: the difference to what such tasks do otherwise; None where nothing can be compared.
        effect_low: the lower end of its interval.
        effect_high: the upper end.
        is_surely_better: whether it does better by more than chance, however many were tested.
    """

    runs: int
    successes: int
    a: float
    b: float
    order_key: float
    is_worth_recommending: bool = True
    effect: float | None = None
    effect_low: float | None = None
    effect_high: float | None = None
    is_surely_better: bool = False

    def instead_of(self, expected: Expected) -> Expected:
        """Return what is expected at all tasks, with the rates at these tasks in their place."""
        total = self.a + self.b
        mean = self.a / total if total > 0.0 else expected.mean
        return msgspec.structs.replace(expected, mean=mean, **msgspec.structs.asdict(self))


class LessonEntry(Labelled, frozen=True, kw_only=True, array_like=True, gc=False):
    """A lesson from tool calls.

    Attributes:
        id: its id.
        kind: what it is about, see learning/advice/lessons.
        tools: the tools it concerns; the first one is what it is about.
        state: "seen", "established" or "faded".
        score: how much it counts among lessons, 0..1.
        runs: the runs behind it.
        tasks: the distinct tasks among them.
        last_seen: when it was last seen, seconds since the epoch.
        lines: its line of prompt text by language.
        lang: the language of its label and its gist.
        wordless_lines: where the words of an error in its line were reported by one agent alone,
            the line without them; empty for all others.
        usual: the share of the project's runs that use its tools.
        words: the words of the error that it is about.
        names: the names in what it is about, of tools, errors, files and packages, case folded.
        needs_naming: whether only tasks that name it are told: nothing is known that helps, or it
            is rare.
        is_occasional: whether its tool mostly works and nothing is known that mends the failure.
        only_source: the agent whose runs alone it was found in; "" if there are several.
    """

    named = "lesson"

    id: str
    kind: str
    tools: tuple[str, ...]
    state: str
    score: float
    runs: int
    tasks: int
    last_seen: float
    lines: dict[str, str]
    lang: str = "en"
    wordless_lines: dict[str, str] = msgspec.field(default_factory=dict)
    usual: float = 0.0
    words: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    needs_naming: bool = False
    is_occasional: bool = False
    only_source: str = ""


class ProcedureEntry(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A procedure: the set of tools that a run used.

    Attributes:
        signature: its tools, sorted and joined, as a competence record has it.
        order: the tools in the order that its successful runs mostly used.
        expected: how often it succeeds.
        by_kind: how often it succeeds by the position of the kind of task, where that is known.
        is_recipe: whether most of its successful runs kept to its order.
        is_outranked: whether one speaker alone tells of it, at tasks of which others tell something
            together.
    """

    signature: str
    order: tuple[str, ...]
    expected: Expected
    by_kind: dict[int, ExpectedInKind] = {}
    is_recipe: bool = True
    is_outranked: bool = False

    def expected_at(self, kind: int | None) -> Expected:
        """Return how often it succeeds at a kind of task, or at all where that is not known."""
        part = None if kind is None else self.by_kind.get(kind)
        return self.expected if part is None else part.instead_of(self.expected)


class PatternEntry(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A pattern's estimate.

    Attributes:
        slug: the pattern.
        expected: how often the tasks of its outcomes succeed.
        by_kind: how often they succeed by the position of the kind of task, where it was seen.
        goes_worse: whether they almost certainly go worse than such tasks do otherwise; None if
            there is nothing to compare.
        is_outranked: as of a procedure.
    """

    slug: str
    expected: Expected
    by_kind: dict[int, ExpectedInKind] = {}
    goes_worse: bool | None = None
    is_outranked: bool = False

    def expected_at(self, kind: int | None) -> Expected:
        """Return how often they succeed at a kind of task, or at all where that is not known."""
        part = None if kind is None else self.by_kind.get(kind)
        return self.expected if part is None else part.instead_of(self.expected)


class KindEntry(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A kind of task.

    Attributes:
        name: what people call it.
        expected: how often such tasks succeed.
    """

    name: str
    expected: Expected


class PastTasks(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """Past tasks, each text once, known by their position in the index.

    Attributes:
        index: finds texts that are similar to a task's.
        kinds: the position of each text's kind of task: unsigned 32-bit integers.
        runs: for each text, its runs by procedure: (position of the procedure, successes,
            failures, when the last one ended, the moment as of which the successes vote).
    """

    index: TaskIndex = TaskIndex()
    kinds: bytes = b""
    runs: tuple[tuple[tuple[int, int, int, float, float], ...], ...] = ()


class AdviceDocument(Document, frozen=True, kw_only=True):
    """Advice counted from the runs of one project.

    Attributes:
        project: whose runs.
        revision: the revision of the store that it shows.
        computed_at: when, seconds since the epoch.
        runs: the runs that it was counted from.
        expected: how often the project's tasks succeed.
        lessons: lessons from tool calls, the strongest first.
        procedures: every procedure of the runs.
        patterns: the estimates of patterns.
        kinds: kinds of task.
        past_tasks: past tasks by their texts.
        checks: for each tool that verdicts rest on, which is no part of a procedure, the share of
            the runs that used it.
        agents: the tools of each of the project's agents, as `agent_tools` names them.
        tool_names: by coding agent, its own names of tools by the words that they are on record
            with: "apply_patch" for "edit".
        standing: what the start of a session says of checks that do not start, by machine.
        standing_lessons: the ids of the lessons that tell the same.
        usual: the lines that most of the last sessions ran, the most important first.
        never: what the start of a session says of files that are not there.
    """

    project: str
    revision: int
    computed_at: float
    runs: int = 0
    expected: Expected = Expected(0.5, 0.5, 0.5, 0.0, 1.0)
    lessons: tuple[LessonEntry, ...] = ()
    procedures: tuple[ProcedureEntry, ...] = ()
    patterns: tuple[PatternEntry, ...] = ()
    kinds: tuple[KindEntry, ...] = ()
    past_tasks: PastTasks = PastTasks()
    checks: dict[str, float] = msgspec.field(default_factory=dict)
    agents: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    tool_names: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)
    standing: dict[str, str] = msgspec.field(default_factory=dict)
    standing_lessons: tuple[str, ...] = ()
    usual: tuple[UsualLine, ...] = ()
    never: str = ""


_decoder = msgspec.msgpack.Decoder(AdviceDocument)
_encoder = msgspec.msgpack.Encoder()


def encode_advice(document: AdviceDocument) -> bytes:
    """Return the document as it is cached."""
    return _encoder.encode(document)


def decode_advice(data: bytes) -> AdviceDocument:
    """Return the document from the cache.

    Raises:
        msgspec.DecodeError: it was written by another version.
    """
    return _decoder.decode(data)
