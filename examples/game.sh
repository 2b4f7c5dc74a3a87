#!/bin/sh
# A game of two rooms, for the loops. It prints the id of the place and what the player reads there, each in a line,
# reads an action in a line, and prints the turn in a line. The game ends when the player finds the coins.
hall='"id": 1, "name": "Hall"'
cellar='"id": 2, "name": "Cellar"'
here=$hall
echo 1
echo 'You are in a hall. A rope hangs from the ceiling. Stairs lead north.'
while read -r action; do
    before=$here score=0 changed=false
    case "$here: $action" in
        "$hall: pull rope") reply='The rope does not move.' ;;
        "$hall: north") reply='You go down the stairs. A chest stands on soft earth.' here=$cellar changed=true ;;
        "$cellar: open chest") reply='The chest is locked.' ;;
        "$cellar: dig") reply='In the earth you find a bag of coins.' score=10 changed=true ;;
        *) reply='You cannot do that here.' ;;
    esac
    printf '{"action": "%s", "response": "%s", "world_changed": %s, ' "$action" "$reply" "$changed"
    printf '"location_before": {%s}, "location_after": {%s}, ' "$before" "$here"
    printf '"score_before": 0, "score_after": %s}\n' "$score"
    [ "$score" = 0 ] || exit 0
    [ "$here" = "$hall" ] && echo 1 || echo 2
    echo "$reply"
done
