"""Time of a call from Python against the bare process, and over one session.

    python python/bench.py target/release/memories --number 400

In each round the same call is done in four ways, one after the other: by a bare process (`posix_spawn`, pipes,
`waitpid`), by the module with processes, by the module with a session, and by the bare process again, which tells how
much two measurements of the same thing differ. Each way has a memory file of its own with the same turns, and the
built-in rules take the memories. At last the session is measured alone. Times are in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from memories import Memories, Turn

METHODS = ("record", "tried", "recall")

#: First rounds that are not counted: they read the program from disk, and start the session.
WARM_UP = 20


def turn(number: int) -> Turn:
    place = number % 10
    return Turn(f"push {number}", "Nothing happens.", f"{place}:Room {place}", world_changed=False)


class Bare:
    """The least that starts a process, writes its stdin, reads its stdout and waits for its end."""

    def __init__(self, path: Path, program: str) -> None:
        self.command = [program, "--json", "--quiet", "--file", str(path)]

    def record(self, number: int) -> dict[str, Any]:
        return self.run(["record"], json.dumps(turn(number).to_json()).encode())

    def tried(self, number: int) -> dict[str, Any]:
        return self.run(["tried", "--", str(number % 10), f"push {number}"])

    def recall(self, number: int) -> dict[str, Any]:
        return self.run(["recall", "--", str(number % 10)])

    def run(self, arguments: list[str], data: bytes = b"") -> dict[str, Any]:
        (theirs_in, ours_in), (ours_out, theirs_out) = os.pipe(), os.pipe()
        pipes = [(os.POSIX_SPAWN_DUP2, theirs_in, 0), (os.POSIX_SPAWN_DUP2, theirs_out, 1)]
        pid = os.posix_spawn(self.command[0], self.command + arguments, os.environ, file_actions=pipes)
        os.close(theirs_in)
        os.close(theirs_out)
        os.write(ours_in, data)
        os.close(ours_in)
        parts: list[bytes] = []
        while part := os.read(ours_out, 1 << 16):
            parts.append(part)
        os.close(ours_out)
        os.waitpid(pid, 0)
        answer: dict[str, Any] = json.loads(b"".join(parts))
        return answer


class Module:
    """The same calls by the module."""

    def __init__(self, path: Path, program: str, *, session: bool) -> None:
        self.memories = Memories(path, session=session, program=program)

    def record(self, number: int) -> object:
        return self.memories.record(turn(number))

    def tried(self, number: int) -> object:
        return self.memories.tried(number % 10, f"push {number}")

    def recall(self, number: int) -> object:
        return self.memories.recall(number % 10)


def measure(ways: dict[str, Bare | Module], rounds: int) -> None:
    """Prints the median and the 95th percentile of each method in each way."""
    for method in METHODS:
        times: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(WARM_UP + rounds):
            for name, way in ways.items():
                begun = time.perf_counter()
                getattr(way, method)(number)
                times[name].append((time.perf_counter() - begun) * 1000)
        least = median(next(iter(times.values()))[WARM_UP:])
        for name, taken in times.items():
            p50, p95 = median(taken[WARM_UP:]), quantiles(taken[WARM_UP:], n=20)[18]
            print(f"{method:8}{name:15}{p50:8.3f}{p95:8.3f}{p50 - least:12.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--number", type=int, default=400, help="number of rounds")
    arguments = parser.parse_args()
    program = str(Path(arguments.program).resolve())
    for name in [name for name in os.environ if name.startswith("MEMORIES_") or name.endswith("_API_KEY")]:
        del os.environ[name]
    with tempfile.TemporaryDirectory() as made:
        os.environ["HOME"] = made
        folder = Path(made)
        print(f"{'':23}{'p50':>8}{'p95':>8}{'above first':>12}")
        ways: dict[str, Bare | Module] = {
            "bare": Bare(folder / "a.md", program),
            "processes": Module(folder / "b.md", program, session=False),
            "session": Module(folder / "c.md", program, session=True),
            "bare again": Bare(folder / "d.md", program),
        }
        measure(ways, arguments.number)
        alone = Module(folder / "e.md", program, session=True)
        measure({"session alone": alone}, arguments.number)
        for way in (*ways.values(), alone):
            if isinstance(way, Module):
                way.memories.close()


if __name__ == "__main__":
    main()
