"""`trackrecord dead`: outcomes that could not be learnt."""

from trackrecord.resources.operation.dead_letters import DEAD_LETTERS

from ...resource_commands import group_of

command = group_of(DEAD_LETTERS)
