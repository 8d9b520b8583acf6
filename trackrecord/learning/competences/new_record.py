"""New records: procedures that a person stores by hand, checked once.

A record by hand is the record of its signature, as a learnt one is. So outcomes that follow the
procedure count for it, and so do those that name it. What its author said stays, whatever is
learnt.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from trackrecord.errors import InvalidRequest, InvalidRevision

from .episodes.signatures import signature_of
from .episodes.triggers import read_conditions
from .record import (
    Authored,
    Competence,
    RecipeStep,
    TriggerCounts,
    competence_id,
    recipe_of,
    skill_name,
)
from .rules import MAX_TOOLS, MAX_TRIGGERS, MOST_FAILURE_MODES, CompetenceRules, begun

# As on the wire.
_Signal = Annotated[str, Meta(min_length=1, max_length=1024)]
_Name = Annotated[str, Meta(min_length=1, max_length=256)]
_Text = Annotated[str, Meta(min_length=1, max_length=1000)]
_UNSTORABLE: Final = re.compile(r"[\0\ud800-\udfff]")
_NUL_OR_SURROGATE: Final = "a text has a NUL character or a lone surrogate"
_MOST_STEPS: Final = 256


class NewTrigger(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A signal that a procedure answers to.

    Attributes:
        signal: an intent label or an error signature.
        conditions: those under which it answers; None for any.
    """

    signal: _Signal
    conditions: Any = None


class NewStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A step of a procedure.

    Attributes:
        tool: the tool to call.
        args_schema: the JSON type of each argument.
    """

    tool: _Name
    args_schema: Annotated[dict[_Name, _Name], Meta(max_length=32)] = {}


class NewCompetence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A procedure written by a person.

    Attributes:
        triggers: the signals that it answers to.
        tools: its recipe, in order.
        skill_name: its name; made of its tools where it is None.
        failure_modes: how it is known to fail.
        tags: what it can be found by.
        confidence: how far it is trusted, 0..1; the settings' where it is None.
        half_life_days: days without reinforcement after which its salience is half; as above.
        pinned: whether its salience is kept from decaying.
    """

    triggers: Annotated[tuple[NewTrigger | _Signal, ...], Meta(min_length=1)]
    tools: Annotated[tuple[NewStep | _Name, ...], Meta(min_length=1, max_length=_MOST_STEPS)]
    skill_name: _Text | None = None
    failure_modes: tuple[_Text, ...] = ()
    tags: Annotated[tuple[_Text, ...], Meta(max_length=50)] = ()
    confidence: Annotated[float, Meta(ge=0, le=1)] | None = None
    half_life_days: Annotated[float, Meta(gt=0, le=36_500)] | None = None
    pinned: bool = False


def read_new_competence(given: Mapping[str, Any] | bytes, rules: CompetenceRules) -> NewCompetence:
    """Return a procedure as it was written down, checked.

    Args:
        given: a mapping, or a JSON object.
        rules: how many triggers, tools and failure modes a record may have.

    Raises:
        InvalidRevision: something is missing, unknown or of the wrong type or range; the message
            names it.
    """
    try:
        decoded = msgspec.json.decode(given) if isinstance(given, bytes) else dict(given)
        new = msgspec.convert(_without_spaces(decoded), NewCompetence)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        message = f"the competence record cannot be read: {error}"
        raise InvalidRevision(message) from None
    _require_fitting(new, rules)
    return new


def new_record(
    rules: CompetenceRules, project: str, new: NewCompetence, *, by: str, now: float
) -> Competence:
    """Return the record of a new procedure, without credit.

    Args:
        rules: what a record starts with.
        project: whose record it is.
        new: the procedure.
        by: its author.
        now: when, seconds since the epoch.
    """
    order = _tools_of(new)
    signature = _signature(rules, order)
    triggers = tuple(map(_trigger, new.triggers))
    recipe = tuple(
        RecipeStep(step.step, step.tool, _schema(new, step.step), step.validation)
        for step in recipe_of(order, {}, max_arguments=1)
    )
    half_life = rules.half_life_days if new.half_life_days is None else new.half_life_days
    return Competence(
        id=competence_id(project, signature),
        project=project,
        skill_name=new.skill_name or skill_name(signature),
        signature=signature,
        triggers=triggers,
        recipe=recipe,
        failure_modes=new.failure_modes,
        confidence=rules.confidence if new.confidence is None else new.confidence,
        salience=rules.salience,
        lifecycle=replace(begun(rules, now, pinned=new.pinned), half_life_days=half_life),
        created_at=now,
        updated_at=now,
        tags=new.tags,
        authored=Authored(by, triggers, new.failure_modes),
    )


def _require_fitting(new: NewCompetence, rules: CompetenceRules) -> None:
    order = _tools_of(new)
    signals = [trigger.signal for trigger in map(_trigger, new.triggers)]
    distinct = order if rules.keep_repeats else tuple(dict.fromkeys(order))
    for holds, message in (
        (all(order), "tools must not be blank"),
        (len(distinct) <= MAX_TOOLS, f"there are at most {MAX_TOOLS} tools"),
        (all(signals), "triggers must not be blank"),
        (len(set(signals)) == len(signals), "a trigger is named twice"),
        (len(signals) <= MAX_TRIGGERS, f"there are at most {MAX_TRIGGERS} triggers"),
        (
            len(new.failure_modes) <= MOST_FAILURE_MODES,
            f"there are at most {MOST_FAILURE_MODES} failure modes",
        ),
    ):
        if not holds:
            raise _unstorable(message)


def _unstorable(why: object) -> InvalidRevision:
    return InvalidRevision(f"the competence record cannot be stored: {why}")


def _without_spaces(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return JSON whose texts have no spaces around them, as the tools of episodes have none."""
    if isinstance(value, str):
        if _UNSTORABLE.search(value):
            raise _unstorable(_NUL_OR_SURROGATE)
        return value.strip()
    if isinstance(value, (list, tuple)):
        return [_without_spaces(each) for each in value]
    if isinstance(value, dict):
        return {_without_spaces(name): _without_spaces(each) for name, each in value.items()}
    return value


def _tools_of(new: NewCompetence) -> tuple[str, ...]:
    return tuple(each if isinstance(each, str) else each.tool for each in new.tools)


def _signature(rules: CompetenceRules, order: tuple[str, ...]) -> str:
    return signature_of(order if rules.keep_repeats else tuple(dict.fromkeys(order)))


def _trigger(given: NewTrigger | str) -> TriggerCounts:
    if isinstance(given, str):
        return TriggerCounts(given)
    if given.conditions is None:
        return TriggerCounts(given.signal)
    try:
        return TriggerCounts(given.signal, read_conditions(given.conditions))
    except InvalidRequest as error:
        raise _unstorable(error) from None


def _schema(new: NewCompetence, number: int) -> dict[str, str]:
    step = new.tools[number - 1]
    return {} if isinstance(step, str) else step.args_schema
