#!/bin/sh
# The MCP server of coding agents. Written by `trackrecord install`. The runs of these agents are
# reported by their hooks: there is no tool to report them once more.
TRACKRECORD_HOME={home}
export TRACKRECORD_HOME
exec {python} -I -S {proxy} {home} {python}
