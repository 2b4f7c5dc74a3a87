#!/bin/sh
# The loop of an agent that remembers: recall before each turn, record after it.
#
#   sh examples/loop.sh AGENT GAME [ARGUMENT]...
#   sh examples/loop.sh 'sh examples/explorer.sh' sh examples/game.sh
#
# AGENT is a command that reads what is known from its standard input and prints an action. GAME is a program that
# prints the id of the place and what the player reads there, each in a line. It then reads an action in a line, and
# prints the turn in a line, as the JSON object that `memories record` takes.
set -eu
agent=$1
shift
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
mkfifo "$folder/actions"

# Once for each game; the first one is episode 1.
memories episode start > /dev/null
"$@" < "$folder/actions" | {
    exec 3> "$folder/actions"
    while read -r place && read -r text; do
        known=$(printf '%s\n\n' "$text" && memories recall "$place")
        action=$(printf '%s\n' "$known" | $agent)
        # What was in vain here is not done again.
        if evidence=$(memories tried "$place" "$action"); then
            action=$(printf '%s\nin vain: %s (%s)\n' "$known" "$action" "$evidence" | $agent)
        fi
        printf '%s\n' "$action" >&3
        read -r turn
        printf '> %s\n' "$action"
        printf '%s' "$turn" | memories record --quiet
    done
}
