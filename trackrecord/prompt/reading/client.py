"""The client of an agent that writes a prompt: it never breaks the agent, and never waits long.

Redis is asked whether anything changed, and for all of it only then. When Redis is away, the last
answer that this process saw is given again, marked stale; when there was none, the answer is empty
and says so.
"""

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, Unpack

import msgspec
import redis

from trackrecord.embeddings.packed import PackedVectors, decode_vectors
from trackrecord.errors import SettingsError
from trackrecord.learning.advice.moments.facts import CachedMoments, decode_moments
from trackrecord.learning.advice.rules import Explore
from trackrecord.learning.text.language import Language
from trackrecord.learning.text.project_names import DEFAULT_PROJECT
from trackrecord.process.scoped import Scoped
from trackrecord.redis.client import agent_client
from trackrecord.settings.agent_settings import AgentSettings, load_agent_settings

from ..answers.rankings_answer import Compositions, Rankings, answer_from
from ..choosing.exposure import ExposurePlan, exposure_plan_of
from ..choosing.inputs import Meaning, PromptRules
from ..documents.advice_document import decode_advice
from ..documents.rankings_document import ProjectDocuments, decode_document
from ..question.question import Budget, PromptArguments, PromptQuestion, asked_for, usual_question
from .cache import (
    Stamps,
    read_advice,
    read_document,
    read_moments,
    read_moments_stamp,
    read_stamps,
    read_vectors,
)

if TYPE_CHECKING:
    from .task_vectors import TaskVectors

# Of so many projects a process holds what is told at failures.
_MOST_PROJECTS: Final = 64
NOTHING_LEARNT: Final = "nothing is learnt yet"


@dataclass(frozen=True)
class Cached(ProjectDocuments):
    """The documents of a project as this process knows them.

    Attributes:
        stamps: the stamps in the cache.
        made: what was composed of these documents before.
        is_redis_away: whether Redis did not answer.
        vectors: the vectors of its competence records; None without an embedding endpoint.
    """

    stamps: Stamps = field(default=Stamps())
    made: Compositions = field(default_factory=dict, compare=False, repr=False)
    is_redis_away: bool = False
    vectors: PackedVectors | None = None


@dataclass
class RankingsReader:
    """Reads rankings for one process.

    Attributes:
        settings: where Redis is, and how long to wait for it.
    """

    settings: AgentSettings
    _client: redis.Redis | None = None
    # By project: what was decoded last. Most prompts are written while nothing has changed, and
    # then a few bytes are read instead of some hundred thousand.
    _last: dict[str, Cached] = field(default_factory=dict)
    _moments: OrderedDict[str, tuple[bytes | None, CachedMoments]] = field(
        default_factory=OrderedDict
    )
    _retry_at: float = 0.0

    @cached_property
    def _redis(self) -> redis.Redis:
        return self._client or agent_client(self.settings)

    @cached_property
    def usual(self) -> PromptQuestion:
        """Return the default question."""
        return usual_question(self.settings.project, self.settings.context)

    @cached_property
    def rules(self) -> PromptRules:
        """Return the rules of making prompts."""
        return PromptRules(self.settings.context, self.settings.memories)

    def read(self, **given: Unpack[PromptArguments]) -> Rankings:
        """Answer from the cache; see `rankings`, whose arguments these are."""
        return self.answer(asked_for(self.usual, **given))

    def answer(self, question: PromptQuestion) -> Rankings:
        """Answer a question from the cache; never raises."""
        if not question.names_project:
            return Rankings.empty(DEFAULT_PROJECT, problem=question.problem)
        found = self.cached(question.project)
        answer = answer_from(
            question,
            found,
            self.rules,
            now=time.time(),
            exposure_plan=self.exposure_plan(question, found),
            meaning=self.meaning(question, found),
            made=found.made,
        )
        return self._with_files(answer, question)

    def _with_files(self, answer: Rankings, question: PromptQuestion) -> Rankings:
        """Return an answer with the places of files that the task only names."""
        task = question.task or ""
        if "." not in task or answer.arm == "withheld" or not question.sections.has("lessons"):
            return answer
        # Imported only where a task may name a file.
        from trackrecord.learning.advice.moments.wording import named_text, names_in

        names = names_in(task)
        if not names:
            return answer
        line = named_text(names, self.moments(question.project).of(""))
        tokens = answer.tokens + self.rules.context.tokens_of(line)
        if not line or (question.budget is not None and tokens > question.budget):
            return answer
        prompt = f"- {line}\n\n{answer.prompt}".rstrip()
        return replace(answer, prompt=prompt, tokens=tokens)

    def exposure_plan(self, question: PromptQuestion, found: Cached) -> ExposurePlan:
        """Return a task's arm and draws; see `exposure_plan_of`."""
        return exposure_plan_of(
            question, found, holdout=self.settings.holdout, explore=self.settings.explore
        )

    def meaning(self, question: PromptQuestion, found: Cached) -> Meaning | None:
        """Return how similar a task's embedding is to those of competence records; never raises.

        None where no embedding endpoint is set, or none answers in time.
        """
        # While Redis is away nothing is asked of it.
        if not question.task or found.problem is not None or found.document is None:
            return None
        if not question.sections.has("competences"):
            return None
        return self._meaning(found, question.project, question.task)

    def _meaning(self, found: Cached, project: str, task: str) -> Meaning | None:
        vectors, endpoint = found.vectors, self.settings.embeddings
        if vectors is None or vectors.model != endpoint.model:
            return None
        try:
            asked = self._tasks.vector(project, task)
        except (redis.RedisError, OSError, ValueError):
            return None
        if asked is None or len(asked) != vectors.dimensions:
            return None
        return Meaning(vectors.nearest(asked), vectors.compared, endpoint.least_similarity)

    @cached_property
    def _tasks(self) -> "TaskVectors":
        # Imported only where an endpoint is set.
        from .task_vectors import TaskVectors

        return TaskVectors(self.settings.embeddings, self._redis, self.settings.keys)

    def cached(self, project: str) -> Cached:
        """Return the newest documents there are, and what kept us from fresh ones; never raises."""
        seen = self._last.get(project, Cached())
        if time.monotonic() < self._retry_at:
            return replace(seen, problem="redis is unavailable", is_redis_away=True)
        try:
            stamps = read_stamps(self._redis, self.settings, project)
            found = self._updated(project, seen, stamps)
        except msgspec.DecodeError:
            return replace(seen, problem="the cache was written by another version")
        except (redis.RedisError, OSError, ValueError) as error:
            self._retry_at = time.monotonic() + self.settings.retry_after_s
            problem = f"redis is unavailable ({type(error).__name__})"
            return replace(seen, problem=problem, is_redis_away=True)
        if found.document is None:
            return Cached(problem=NOTHING_LEARNT)
        self._last[project] = found
        return found

    def moments(self, project: str) -> CachedMoments:
        """Return what is told at failures, as it is now; nothing without Redis; never raises.

        It is decoded once for each change: in between a few bytes are read.
        """
        if time.monotonic() < self._retry_at:
            return CachedMoments()
        try:
            stamp, document = self._moments.get(project, (None, CachedMoments()))
            if stamp is None or stamp != read_moments_stamp(self._redis, self.settings, project):
                stamp, data = read_moments(self._redis, self.settings, project)
                document = CachedMoments() if data is None else decode_moments(data)
        except msgspec.DecodeError:
            return CachedMoments()
        except (redis.RedisError, OSError, ValueError):
            self._retry_at = time.monotonic() + self.settings.retry_after_s
            return CachedMoments()
        self._moments[project] = stamp, document
        while len(self._moments) > _MOST_PROJECTS:
            self._moments.popitem(last=False)
        return document

    def _updated(self, project: str, seen: Cached, stamps: Stamps) -> Cached:
        """Return an earlier reading, updated with changes since."""
        if stamps.rankings is None or stamps.rankings != seen.stamps.rankings:
            stamp, data = read_document(self._redis, self.settings, project)
            document = None if data is None else decode_document(data)
            stamps_now = seen.stamps._replace(rankings=stamp)
            seen = replace(seen, document=document, stamps=stamps_now, made={})
        if stamps.advice != seen.stamps.advice:
            stamp, data = read_advice(self._redis, self.settings, project)
            advice = None if data is None else decode_advice(data)
            stamps_now = seen.stamps._replace(advice=stamp)
            seen = replace(seen, advice=advice, stamps=stamps_now, made={})
        if stamps.vectors != seen.stamps.vectors:
            stamp, data = read_vectors(self._redis, self.settings, project)
            vectors = None
            with suppress(msgspec.DecodeError):  # words do until the worker has made them anew
                vectors = None if data is None else decode_vectors(data)
            seen = replace(seen, vectors=vectors, stamps=seen.stamps._replace(vectors=stamp))
        return seen


_lock = threading.Lock()
_readers: dict[int, RankingsReader] = {}
# A test's own, in place of the process's.
given_readers: Scoped[RankingsReader] = Scoped("trackrecord_given_rankings")


def rankings(
    *,
    project: str | None = None,
    task: str | None = None,
    budget: Budget = "default",
    limit: int | None = None,
    lang: Language = "en",
    include: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    task_id: str | None = None,
    explore: Explore | None = None,
    conditions: object = None,
    source: str | None = None,
) -> Rankings:
    """Return learnt entries, ranked, within a token budget.

    With a task, what has to do with it is handed out; where nothing has, the few entries that hold
    for the project as a whole. An empty text is a valid answer.

    Never raises: see `problem` and `is_stale` of the answer. An argument of another type is
    coerced where only one reading is possible, as `budget="800"` is. Otherwise its default takes
    its place and `problem` says so; for a project that is not a text the answer is empty.

    Args:
        project: whose experience; the settings' project when not given.
        task: the text of the task at hand.
        budget: tokens that the prompt text may take; None for no limit, "default" for the
            settings' (`TRACKRECORD_CONTEXT__LEARNT_TOKENS`, 400).
        limit: how many entries of each section at most.
        lang: language of the text and of the entries' contents, reasons and labels, "en" or "zh";
            what agents wrote stays as it is.
        include: the sections to answer from, for example `["lessons", "memories"]`; the settings'
            when not given. Sections are named as the fields of the answer.
        exclude: the sections to leave out; the settings' when not given.
        task_id: the id that the task's outcome will have. With one, what the task is handed is
            recorded, so that `trackrecord effect` can say whether it helps. A task of the holdout
            gets an empty answer, see `PromptAnswer.arm`.
        explore: how much entries that are little known are tried: "off", "some" (cautiously) or
            "full"; what the setting says when not given. The same for a task as long as
            the rankings are the same. Without a task id and a text nothing is tried.
        conditions: the conditions under which the task appeared, as a trigger's, for example
            `{"os": "linux"}`: procedures and competence records that were used under other ones
            rank below, those that were used under these rank above.
        source: the agent that asks, as its outcomes name it. Nothing is handed out for which it has
            not got the tools, as far as the project's runs show; without a name, nothing that only
            some kinds of the project's agents have got the tools for.
    """
    try:
        reader = process_reader()
    except SettingsError as error:
        return Rankings.empty(DEFAULT_PROJECT, problem=str(error))
    return reader.read(
        project=project,
        task=task,
        budget=budget,
        limit=limit,
        lang=lang,
        include=include,
        exclude=exclude,
        task_id=task_id,
        explore=explore,
        conditions=conditions,
        source=source,
    )


def process_reader() -> RankingsReader:
    """Return the reader of this process, which caches its last reading.

    Raises:
        SettingsError: a setting is wrong.
    """
    reader = given_readers.get() or _readers.get(os.getpid())
    if reader is None:
        with _lock:
            reader = _readers.setdefault(os.getpid(), RankingsReader(load_agent_settings()))
    return reader
