#!/bin/sh
# A chat with a model that remembers: memories go into each request, and what is worth keeping comes out of each reply.
#
#   sh examples/integrations/chat.sh BASE_URL MODEL < MESSAGES.txt
#
# BASE_URL is that of a server of OpenAI's shape. The conversation is conversation.jsonl, the memory Memories.md, here.
# Needs curl and jq. How many memories, where they stand and when they are drawn is said under [chat] in memories.toml.
set -eu
url=$1
model=$2
: > conversation.jsonl

while IFS= read -r words; do
    jq -cn --arg text "$words" '{role: "user", content: $text}' >> conversation.jsonl
    jq -cs --arg model "$model" '{model: $model, messages: .}' conversation.jsonl |
        memories chat inject --quiet > request.json
    curl -sS --fail-with-body "$url/chat/completions" -H 'Content-Type: application/json' -d @request.json > reply.json
    jq -c '.choices[0].message | {role, content}' reply.json >> conversation.jsonl
    jq -r '.choices[0].message.content' reply.json
    memories chat extract --quiet --conversation conversation.jsonl --id chat > kept.txt
done
