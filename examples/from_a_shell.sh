#!/bin/sh
# Report from any language that speaks to Redis: `sh examples/from_a_shell.sh [redis-cli options]`.
# One entry of a stream is one report; docs/wire.md has every field.
set -eu
if [ $# -eq 0 ]; then
    set -- -s "${TRACKRECORD_HOME:-$HOME/.local/share/trackrecord}/redis.sock"
fi
project=${TRACKRECORD_PROJECT:-default}

report() {
    redis-cli -e "$@" >/dev/null
}

# An attempt failed, and the next one is to know why ...
report "$@" XADD trackrecord:outcomes '*' v 1 error '{"task_id": "build-4712",
    "message": "timed out after 60 s", "tool_name": "npm", "project": "'"$project"'"}'
# ... and in the end the task succeeded.
report "$@" XADD trackrecord:outcomes '*' v 1 body '{"task_id": "build-4712", "success": true,
    "strategy": "Split by component", "error_count": 1, "project": "'"$project"'"}'

# What the prompt of a retry should say, kept ready in Redis by a worker.
task=$(printf %s build-4712 | sha256sum | cut -d ' ' -f 1)
for _ in 1 2 3 4 5 6 7 8 9 10; do
    text=$(redis-cli -e "$@" HGET "trackrecord:in-flight:retry:$task:$project" en)
    [ -z "$text" ] || break
    sleep 1
done
echo "$text"
