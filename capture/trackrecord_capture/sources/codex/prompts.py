"""Tell a person's words in a Codex thread from those that Codex adds under the person's name."""

import re
from typing import Any, Final

# Context that Codex hands to the model as a message of the user: a block of its own tags, or the
# instructions of the repository.
_NOT_A_PERSONS: Final = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions instructions|turn_aborted"
    r"|user_shell_command|skill|skills_instructions|subagent_notification|hook_prompt"
    r"|collaboration_mode|personality_spec|model_switch|apps_instructions|plugins_instructions"
    r"|user_action|ide_context|goal_context)\b"
    r"|# AGENTS\.md instructions for\b)"
)
# What the editor's extension puts before the person's own words.
_OWN_WORDS: Final = re.compile(r"^## My request for Codex:[ \t]*\n", re.MULTILINE)


def persons_words(text: str) -> str:
    """Return the person's words in a message of the user; "" if there are none."""
    if _NOT_A_PERSONS.match(text):
        return ""
    return _OWN_WORDS.split(text, maxsplit=1)[-1].strip()


def words_in(content: Any) -> str:  # noqa: ANN401 - decoded JSON
    """Return the person's words in the content of a message: a text, or a list of parts."""
    if isinstance(content, str):
        return persons_words(content)
    if not isinstance(content, list):
        return ""
    texts = [part.get("text") for part in content if isinstance(part, dict)]
    words = [persons_words(text) for text in texts if isinstance(text, str)]
    return "\n".join(each for each in words if each)
