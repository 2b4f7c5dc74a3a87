"""A sync that is killed at each of its system calls, and what others then count.

    python killed_syncs.py PATH_TO_MEMORIES [EVERY]

With EVERY only each so many calls are tried.

Worker A tries an action three times, and its sync is killed at one call by `strace`. Then, or before, worker B may sync, so
that A's push is no longer the newest. After all have synced again, each file counts each try once.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from fleet import Fleet, moto

CALLS = ("renameat", "renameat2", "linkat", "unlinkat", "ftruncate", "fsync", "write", "writev")
A, B = 0, 1


class Pair(Fleet):
    """Two workers, and the tries that both have made."""

    tries = 0

    def record(self, worker):
        self.tries += 1
        turn = {
            "id": str(self.tries),
            "turn": self.tries,
            "action": "push button",
            "response": "Click.",
            "location_before": {"id": 99, "name": "Lift"},
            "location_after": {"id": 99, "name": "Lift"},
            "world_changed": False,
        }
        self.must(worker, "record", stdin=json.dumps(turn).encode())

    def sync_until(self, worker, call, number):
        """Syncs, and is killed at a call; false if it makes fewer such calls."""
        strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject={call}:signal=KILL:when={number}"]
        command = [*strace, self.program, "-f", "Memories.md", "sync", self.url]
        process = subprocess.run(command, env=self.environment, cwd=self.folders[worker], capture_output=True)
        return process.returncode != 0

    def counted(self, worker):
        text = (self.folders[worker] / "Memories.md").read_text()
        return sum(int(count or 1) for count in re.findall(r"`push button`(?: ×(\d+))?", text))


def is_killed(program, server, url, call, number, pushes_before, pushes_after):
    with tempfile.TemporaryDirectory() as scratch:
        pair = Pair(program, Path(scratch), url, server.variables, 2, 0, False)
        pair.record(A)
        pair.sync(A)
        pair.sync(B)
        if pushes_before:
            pair.record(B)
            pair.sync(B)
        for _ in range(3):
            pair.record(A)
        if not pair.sync_until(A, call, number):
            return False
        if pushes_after:
            pair.record(B)
            pair.sync(B)
        pair.sync(A)
        for worker in (B, A):
            pair.record(worker)
        for worker in (B, A, B):
            pair.sync(worker)
        for worker in (A, B):
            if pair.counted(worker) != pair.tries:
                raise SystemExit(
                    f"killed at {call} {number} ({pushes_before=}, {pushes_after=}): worker {worker} counts "
                    f"{pair.counted(worker)} tries instead of {pair.tries}"
                )
        return True


def main():
    program, server, kills = str(Path(sys.argv[1]).resolve()), moto(), 0
    every = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    try:
        for pushes_before in (False, True):
            for pushes_after in (False, True):
                for place, call in enumerate(CALLS):
                    number = 1 + place % every
                    url = f"s3://games/{call}-{pushes_before}-{pushes_after}"
                    while is_killed(program, server, f"{url}-{number}/", call, number, pushes_before, pushes_after):
                        number += every
                        kills += 1
        if kills < len(CALLS):
            raise SystemExit(f"only {kills} kills: strace does not reach the program")
    finally:
        server.stop()
    print(f"killed at {kills} calls: every try counts once")


if __name__ == "__main__":
    main()
