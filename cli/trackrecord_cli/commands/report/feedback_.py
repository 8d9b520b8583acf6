"""`trackrecord feedback`: verdicts on one pattern, criterion or memory alone."""

from trackrecord.resources.reports.feedback import FEEDBACK

from ...resource_commands import group_of

command = group_of(FEEDBACK)
