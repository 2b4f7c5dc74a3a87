# Stands in for a model, so that the commands of the guide print the same everywhere: reads a prompt and prints the
# answer that was recorded for it.
case $(cat) in
*'"character"'*)
    cat << 'END'
{"summary": "Marta forgave Ilse her debt of nine silver in exchange for the ferryman's lost bell. She trusts Ilse with the key of the cellar now."}
END
    ;;
*'"event"'*)
    cat << 'END'
{"summary": "Ilse brought the ferryman's bell back, and the ferry runs again at night. The smugglers who hid it have lost their quiet river."}
END
    ;;
*'"place"'*)
    cat << 'END'
{"summary": "Ilse paid her debt at the Drowned Otter with the ferryman's bell and was given the key of the cellar. Behind the barrels a tunnel leads to the river."}
END
    ;;
*'CONVERSATION'*)
    cat << 'END'
{"memories": [{"category": "DISCOVERY", "importance": 8, "summary": "A tunnel behind the barrels in the cellar of the Drowned Otter leads to the river.", "context": "Ilse searched the cellar for Marta"}, {"category": "RELATIONSHIP", "importance": 7, "summary": "Marta trusts Ilse since she brought the ferryman's bell back.", "context": "At the bar of the inn"}, {"category": "DECISION", "importance": 6, "summary": "Ilse chose to keep the tunnel secret from the watch.", "context": "After the search"}]}
END
    ;;
esac
