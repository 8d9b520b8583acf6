"""`trackrecord news`: list recent changes."""

from trackrecord.resources.operation.news import NEWS

from ...resource_commands import command_of

command = command_of(NEWS, NEWS.operations[0], drawn={})
