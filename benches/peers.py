"""Search over MCP beside `@modelcontextprotocol/server-memory`, in one run.

    npm install --prefix FOLDER @modelcontextprotocol/server-memory
    python benches/peers.py PATH_TO_MEMORIES FOLDER/node_modules/.bin/mcp-server-memory

Both servers hold the same notes, each with an id of its own, and are asked in turn. Each question is new. The peer looks
for the text of the question as a part of a note, so it is asked for an id alone; `memories` is asked a sentence with the
id. Prints the median and the 99th percentile of each, in milliseconds.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SIZES = [1_000, 10_000]
WARM, CALLS = 30, 300
WORDS = """lamp door house window troll sword river forest north south open take gold rusty small dark cave stone bridge
wall light ghost kitchen table rope knife water boat mountain garden tower guard letter candle mirror statue tunnel ladder
barrel crystal coffin engine tree meadow harbour""".split()


class Server:
    def __init__(self, command: list[str], **environment: str) -> None:
        environment = {"PATH": os.environ["PATH"], **environment}
        self.process = subprocess.Popen(command, env=environment, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.number = 0
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.ask("initialize", client)
        self.send({"method": "notifications/initialized"})

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, parameters: dict[str, Any]) -> Any:
        self.number += 1
        self.send({"id": self.number, "method": method, "params": parameters})
        assert self.process.stdout
        while True:
            line = self.process.stdout.readline()
            assert line, "the server has ended"
            answer = json.loads(line)
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def time(self, tool: str, arguments: dict[str, Any], expected: str) -> float:
        began = time.perf_counter()
        answer = self.call(tool, arguments)
        taken = (time.perf_counter() - began) * 1000
        assert expected in json.dumps(answer), (arguments, answer)
        return taken


def write(folder: Path, count: int) -> None:
    """The notes as a memory file and as the peer's file."""
    chance = random.Random(count)
    lines, entities = ["# Location Memories\n"], list[dict[str, Any]]()
    for number in range(count):
        if number % 8 == 0:
            lines.append(f"---\n\n## Location {number // 8}: Room {number // 8}\n\n### Memories\n")
        text = " ".join(chance.choices(WORDS, k=28)) + f" lot{number}z."
        lines.append(f"**[NOTE] Fact {number}** *(Ep1, T{number % 300})*\n{text}\n")
        entities.append({"type": "entity", "name": f"Fact {number}", "entityType": "note", "observations": [text]})
    (folder / "Memories.md").write_text("\n".join(lines))
    (folder / "memory.json").write_text("\n".join(map(json.dumps, entities)))


def main() -> None:
    program, peer = (os.path.abspath(path) for path in sys.argv[1:3])
    for count in SIZES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(folder, count)
            ours = Server([program, "-f", str(folder / "Memories.md"), "mcp"], HOME=str(folder))
            theirs = Server([peer], HOME=str(folder), MEMORY_FILE_PATH=str(folder / "memory.json"))
            numbers = random.Random(1).sample(range(count), WARM + CALLS)
            times: list[tuple[float, float]] = []
            for number in numbers:
                word = f"lot{number}z"
                question = {"question": f"where did I see {word} near the river?"}
                times.append((ours.time("query_memories", question, word),
                              theirs.time("search_nodes", {"query": word}, word)))
            for name, each in zip(["memories", "server-memory"], zip(*times[WARM:])):
                half, most = statistics.median(each), statistics.quantiles(each, n=100)[98]
                print(f"{count:6} notes, {name:13}: half within {half:.2f} ms, 99 % within {most:.2f} ms")


if __name__ == "__main__":
    main()
