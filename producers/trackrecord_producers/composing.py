"""The question for a whole prompt; what a task is handed is recorded, as for rankings.

In a module of its own: an agent that asks for rankings alone does not import it.
"""

from trackrecord.prompt import context as context_

from .handing_out import recorded

context = recorded(context_.context)
