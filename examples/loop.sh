#!/bin/sh
# The loop of an agent that remembers: recall before each turn, record after it.
#
#   sh examples/loop.sh TURNS.jsonl [COUNT]
#
# The "game" is a file of recorded turns, so that the script runs anywhere. With a real game, take the place
# from its engine and the action from your agent, and build the same JSON object.
set -eu
turns=$1
count=${2:-5}

# Once for each game; the first one is episode 1.
memories episode start > /dev/null
head -n "$count" "$turns" | while IFS= read -r turn; do
    place=$(printf '%s' "$turn" | sed 's/.*"location_before": {"id": \([0-9]*\).*/\1/')
    action=$(printf '%s' "$turn" | sed 's/.*"action": "\([^"]*\)".*/\1/')

    # What the agent reads before it acts.
    memories recall "$place" > recalled.txt
    # A real agent chooses another action where this one is in vain (exit code 0).
    if evidence=$(memories tried "$place" "$action"); then
        echo "> $action   (in vain: ${evidence#yes: })"
    else
        echo "> $action"
    fi

    # What it learns from the turn.
    printf '%s' "$turn" | memories record --quiet
done
