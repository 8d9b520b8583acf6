"""The frame around records in a hook's answer: where they come from."""

from typing import Final

from trackrecord.learning.text.inert import identifier

# Beyond 10,000 characters Claude Code hands on a preview only.
_LONGEST: Final = 9000
_ABOUT: Final = (
    "Records of earlier runs of coding agents in the project {project}, kept by trackrecord:"
)


def attributed(records: str, project: str) -> str:
    """Return records with a line in front that names their origin; "" for none.

    Args:
        records: what is known, as text for a prompt.
        project: the project's name.
    """
    if not records:
        return ""
    text = f"{_ABOUT.format(project=identifier(project))}\n\n{records}"
    # Nothing in it may pass for the end of what an agent wraps it in.
    text = text.replace("</", "< /")
    return text if len(text) <= _LONGEST else text[:_LONGEST].rpartition("\n")[0]
