#!/bin/sh
# An agent without a model, for the loops: the first action of its list that is not said to be in vain.
known=$(cat)
for action in 'pull rope' north 'open chest' dig; do
    case $known in
        *'in vain: '*"$action"*) ;;
        *) echo "$action" && exit ;;
    esac
done
echo wait
