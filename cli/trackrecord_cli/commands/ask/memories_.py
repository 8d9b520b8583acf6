"""`trackrecord memories`: short facts that agents store and recall."""

from trackrecord.resources.experience.memories import MEMORIES

from ...resource_commands import group_of

command = group_of(MEMORIES)
