#!/bin/sh
# What the hooks of coding agents start. Written by `trackrecord install`; silent in every case.
[ -x {python} ] || exit 0
exec {python} -I -S {hook} "$@" 2>/dev/null
