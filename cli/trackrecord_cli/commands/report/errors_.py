"""`trackrecord errors`: what went wrong in attempts at a task in flight."""

from trackrecord.resources.reports.errors_in_flight import ERRORS

from ...resource_commands import group_of

command = group_of(ERRORS)
