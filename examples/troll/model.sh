# Stands in for a model, so that the commands of the guide print the same everywhere: reads a prompt and prints the
# answer that was recorded for it.
case $(cat) in
*'"question"'*)
    cat << 'END'
{"relevant": [1, 2], "known": true, "answer": "Bring a sword: without one the troll kills you. Gifts do not stop him."}
END
    ;;
*'PLACE'*)
    cat << 'END'
{"relevant": [3, 2, 6], "known": true, "summary": "The troll attacks with a bloody axe and kills who comes without a sword; gifts do not help. A stair in the south leads down to the cellar."}
END
    ;;
*'MEMORIES'*)
    cat << 'END'
{"reasoning": "two ways are one; the gift did not help", "decisions": [{"action": "merge", "titles": ["Way south", "Cellar below"], "title": "Stair to the cellar", "text": "A stair in the south leads down to the cellar.", "category": "DISCOVERY", "reason": "the same way twice"}, {"action": "supersede", "titles": ["Troll accepts gifts"], "title": "Troll attacks after all", "text": "", "category": "", "reason": "a gift only delays him"}, {"action": "drop", "titles": ["Never come unarmed"], "title": "", "text": "", "category": "", "reason": "obvious"}]}
END
    ;;
esac
