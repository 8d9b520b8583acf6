#!/bin/sh
# Report and ask over HTTP: `sh examples/over_http.sh [URL [TOKEN]]`.
# `trackrecord token show` prints your own token; docs/access.md says how to make others.
set -eu
api=${1:-http://127.0.0.1:4318}/api/v1
project=${TRACKRECORD_PROJECT:-default}

ask() {
    curl --silent --show-error --fail-with-body "$@"
}
if [ $# -gt 1 ]; then
    ask() {
        # As the password of any user: curl hides that from the list of processes.
        curl --silent --show-error --fail-with-body --user "agent:$TOKEN" "$@"
    }
    TOKEN=$2
fi

# One outcome, a list, or JSON Lines: answered once they are safe, learnt a moment later.
ask "$api/outcomes?project=$project" --header 'Content-Type: application/json' --data '[
    {"task_id": "build-1", "success": true, "strategy": "Split by component",
     "tool_graph": [{"tool": "edit_file", "ok": true}, {"tool": "run_tests", "ok": true}]},
    {"task_id": "build-2", "success": false, "strategy": "Split by file type",
     "error_count": 1, "tool_graph": [{"tool": "run_tests", "ok": false}]}]'
echo

# What the next prompt should say. POST, with the id of the task, also records what it was handed.
ask "$api/rankings?project=$project" --header 'Content-Type: application/json' \
    --data '{"task": "Mend the nightly build", "task_id": "build-3", "budget": 800}'
echo
