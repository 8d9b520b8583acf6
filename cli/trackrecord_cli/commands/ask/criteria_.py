"""`trackrecord criteria`: how far each criterion can be relied on."""

from trackrecord.resources.experience.criteria import CRITERIA

from ...resource_commands import group_of

command = group_of(CRITERIA)
