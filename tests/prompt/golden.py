"""The cases of the golden prompts, and rewriting their files.

After an intended change of the text: `python tests/prompt/golden.py`, and read the difference.
"""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

from tests.prompt import advised
from tests.support.prompt_answers import answer_from, context_from
from trackrecord.prompt.candidates.candidate import Candidate
from trackrecord.prompt.documents.presentation import present_failing
from trackrecord.prompt.documents.rankings_document import (
    RankedCompetence,
    RankedPattern,
    RankingsDocument,
)

FOLDER = Path(__file__).parent / "golden"
TASK = "the login test fails after the session change"
NOW = 1_800_000_000.0


def pattern(slug, state, score, *, is_negative=False):
    said = f"AVOID: {slug}. Failed 6/7 times" if is_negative else f"{slug} [{state}]"
    chinese = f"避免:{slug}。失败6/7次" if is_negative else f"{slug} [{state},中文]"
    return RankedPattern(
        id=f"anti-{slug}" if is_negative else slug, content=slug, kind="named",
        is_negative=is_negative, state=state, multiplier=1.0, score=score, success_count=5,
        failure_count=1, helpful_count=5, neutral_count=0, harmful_count=1, decayed_helpful=5.0,
        decayed_harmful=1.0, harmful_ratio=0.2, reason="", last_validated=None, tags=("named",),
        lines={"en": f"- {said}", "zh": f"- {chinese}"},
    )  # fmt: skip


def competence(name, trigger, score):
    return RankedCompetence(
        id=name, skill_name=f"skill:{name}", status="active", triggers=(trigger,), recipe=(),
        success_count=4, failure_count=1, success_rate=0.8, expected_success=0.8, confidence=score,
        recency=1.0,
        score=score, instructions=f"{name} first",
        lines={"en": f'- when "{trigger}": {name} [worked 4/5]', "zh": f"- {name} [成功4/5次]"},
    )  # fmt: skip


def memory(name, text, score, kind="memory"):
    lines = {"en": f"- {text} [confidence {score:g}]", "zh": f"- {text} [{score:g}]"}
    return advised.memory(name, text, score, kind=kind, lines=lines)


FULL = {
    "anti_patterns": (
        pattern("big-bang", "deprecated", 0.86, is_negative=True),
        pattern("all-at-once", "candidate", 0.64, is_negative=True),
    ),
    "failing": (present_failing("issue_refund", 22),),
    "patterns": (
        pattern("tests-first", "proven", 1.4),
        pattern("small-steps", "proven", 1.2),
        pattern("read-first", "established", 0.9),
        pattern("file-based", "candidate", 0.4),
    ),
    "competences": (
        competence("read_log+restart", "login fails", 0.8),
        competence("refund", "refund request", 0.6),
    ),
    "memories": (
        memory("m2", "The build cache must be cleared", 0.9),
        memory("m1", "KNOWN PITFALL: the login test hides errors", 0.7, "anti-pattern"),
        memory("m3", "Sessions expire at midnight", 0.3),
    ),
    "beyond": {"patterns": 3, "anti_patterns": 0, "competences": 0, "memories": 7},
}  # fmt: skip
DOCUMENTS = {
    "none": None,
    "empty": {},
    "full": FULL,
    "patterns": {"patterns": FULL["patterns"]},
    "memories": {"memories": FULL["memories"]},
    "another-version": {
        "patterns": (
            pattern("known", "proven", 1.0),
            pattern("later", "legendary", 0.9),
            pattern("gone", "deprecated", 0.8),
        ),
        "memories": (advised.memory("mute", "muet", 0.5, lines={"fr": "- muet"}),),
    },
}  # fmt: skip
OWN = (
    Candidate(id="t2", kind="task", text="Fix it\nand test it", is_current_task=True),
    Candidate(id="t1", kind="task", text="Release it", is_blocked_task=True),
    Candidate(id="ph", kind="phase", text="Testing", priority=2.0),
    Candidate(id="d", kind="decision", text="Use sessions", decision_age_hours=24.0),
    Candidate(id="e", kind="evidence", text="go: undefined", content_type="code", has_failure=True),
    Candidate(id="c", kind="agent_context", text='{"a": 1}', content_type="json", tokens=9),
    Candidate(id="m3", kind="memory", text="- Mine", score=2.0),
    Candidate(id="small-steps", kind="pattern", section="established", text="- mine", score=0.7),
    Candidate(id="loose", kind="pattern", text="- loose", score=0.1),
)


def cases() -> Iterator[tuple[str, str]]:
    """Each prompt with the name of its case."""
    for name, parts in DOCUMENTS.items():
        for task, language in product((None, TASK), ("en", "zh")):
            wanted = f"{name}, {'task' if task else 'no task'}, {language}"
            yield f"rankings: {wanted}", rankings_of(parts, task=task, language=language)
            yield f"context: {wanted}", context_of(parts, task=task, language=language)
    for budget in (0, 20, 60, 100, 140, 180, 240, 300):
        wanted = {"task": TASK, "budget": budget}
        yield f"rankings: budget {budget}", rankings_of(FULL, **wanted)
        yield f"context: budget {budget}", context_of(FULL, **wanted)
        yield f"context: budget {budget}, own", context_of(FULL, OWN, **wanted)
    for limit in (0, 1, 2):
        yield f"rankings: limit {limit}", rankings_of(FULL, task=TASK, limit=limit)
    for language in ("en", "zh"):
        yield f"context: own, {language}", context_of(FULL, OWN, task=TASK, language=language)
        yield f"context: only own, {language}", context_of(None, OWN, language=language)
    words = {"tokenizer": lambda text: len(text.split()), "budget": 90}
    yield "context: words", context_of(FULL, OWN, task=TASK, **words)


def _document(parts):
    if parts is None:
        return None
    return RankingsDocument(project="p", revision=1, computed_at=NOW, **parts)


def rankings_of(parts, *, task=None, budget=None, limit=None, language="en"):
    document = _document(parts)
    return answer_from(document, task=task, budget=budget, limit=limit, language=language).prompt


def context_of(parts, own=(), *, task=None, budget=None, language="en", tokenizer=None):
    return context_from(
        _document(parts), own, task=task, budget=budget, language=language, tokenizer=tokenizer
    ).prompt


def golden() -> dict[str, str]:
    """The prompts on file, by the name of their case."""
    text = (FOLDER / "prompts.txt").read_text(encoding="utf-8")
    return dict(case.split("\n", 1) for case in text.split("======== ")[1:])


def written(prompts: Iterator[tuple[str, str]]) -> str:
    """Return the prompts on file."""
    return "".join(f"======== {name}\n{prompt}\n" for name, prompt in prompts)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "prompts.txt").write_text(written(cases()), encoding="utf-8")
