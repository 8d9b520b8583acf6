"""The settings of coding agents' hooks: reports, and answers."""

from dataclasses import dataclass
from typing import Final, Literal

from trackrecord.learning.numbers.checks import Inner, require

_MOST_TOKENS: Final = 2000
_DAY_S: Final = 86_400.0


@dataclass(frozen=True)
class HookSettings:
    """The settings of hook answers, and of reading sessions.

    Attributes:
        inject: whether coding agents are handed what earlier runs taught.
        moment: whether a coding agent is told right after a call has failed what is known of it;
            with "record" it is only recorded what would have been told.
        session_tokens: budget, in tokens, of what an agent is handed when a session starts; 0 for
            nothing.
        prompt_tokens: budget, in tokens, of what an agent is handed with the first prompt of a
            session; 0 for nothing.
        settle_s: how long a session's log must stay unchanged before it is read; agents write it
            with a delay.
        settle_max_s: how long is waited for that at most.
        catch_up_s: how often the logs of installed agents are searched for sessions that ended
            without a hook.
    """

    inject: bool = True
    moment: Literal["true", "record", "false"] = "true"
    session_tokens: int = 120
    prompt_tokens: int = 400
    settle_s: Inner[float] = 0.5
    settle_max_s: Inner[float] = 10.0
    catch_up_s: float = 300.0

    def __post_init__(self) -> None:
        for name in ("session_tokens", "prompt_tokens"):
            value = getattr(self, name)
            require(0 <= value <= _MOST_TOKENS, f"{name} must lie in 0..{_MOST_TOKENS}")
        require(1 <= self.catch_up_s <= _DAY_S, f"catch_up_s must lie in 1..{_DAY_S:g}")
