"""The texts about competence records that stand in a prompt, in English and in Chinese."""

from collections.abc import Sequence
from typing import Final

from ..numbers.percent import percent
from ..text.inert import as_data
from ..text.language import Language

COMPETENCES_HEADING: Final[dict[Language, str]] = {
    "en": "## Tool Procedures and How Often They Worked",
    "zh": "## 工具流程及其成功率",
}

_NAME_LIMIT = 80


def competence_line(
    tools: Sequence[str],
    *,
    trigger: str | None,
    success_count: int,
    failure_count: int,
    is_contested: bool,
    language: Language = "en",
) -> str:
    """The line of one record: when, which tools in which order, and how often that worked.

    Args:
        tools: the recipe's tools in order.
        trigger: the signal it answers to, None when it was learnt without one.
        success_count: successful episodes.
        failure_count: failed ones.
        is_contested: whether somebody contests the record.
        language: of the text.
    """
    steps = " → ".join(as_data(tool, _NAME_LIMIT) for tool in tools)
    total = success_count + failure_count
    rate = percent(success_count, total)
    if language == "zh":
        when = f"遇到“{as_data(trigger, _NAME_LIMIT)}”时:" if trigger else ""
        doubt = ",有争议" if is_contested else ""
        return f"- {when}{steps} [成功{success_count}/{total}次,{rate}%{doubt}]"
    when = f'when "{as_data(trigger, _NAME_LIMIT)}": ' if trigger else ""
    doubt = ", contested" if is_contested else ""
    return f"- {when}{steps} [worked {success_count}/{total} times, {rate}%{doubt}]"
