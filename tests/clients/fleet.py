"""Many workers, one memory: real servers of object stores on loopback.

    python fleet.py PATH_TO_MEMORIES FOLDER_OF_NPM [--workers 40] [--adds 25] [--rounds s3,az,file,killed]
    python fleet.py PATH_TO_MEMORIES FOLDER_OF_NPM --rates 1,5,10,20,40

`moto` stands in for S3 and Azurite for Azure; both refuse writes whose condition is not met. Each worker records into a
file of its own: memories, and tries of one action, which have to add up. Ends with 0 where all is as expected.
"""

import argparse
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

# moto looks at a condition and writes in two steps, between which another of its threads may write. S3 does both in one.
MOTO = """
import sys, threading
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple
one, app = threading.Lock(), DomainDispatcherApplication(create_backend_app)
def in_one_step(environ, start_response):
    with one:
        return list(app(environ, start_response))
run_simple("127.0.0.1", int(sys.argv[1]), in_one_step, threaded=True)
"""
KEY_OF_AZURITE = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
PLACES = 8
BETWEEN_SYNCS = 5


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """A server on loopback, with the variables by which `memories` finds it."""

    def __init__(self, command, port, variables):
        self.port, self.variables = port, variables
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                time.sleep(0.1)
        raise SystemExit(f"{command[0]} does not answer")

    def stop(self):
        self.process.kill()
        self.process.wait()


def moto():
    port = free_port()
    variables = {
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
    }
    server = Server([sys.executable, "-c", MOTO, str(port)], port, variables)
    request = urllib.request.Request(f"http://127.0.0.1:{port}/games", method="PUT")
    urllib.request.urlopen(request).close()
    return server


def azurite(npm):
    port = free_port()
    connection = (
        f"AccountName=devstoreaccount1;AccountKey={KEY_OF_AZURITE};"
        f"BlobEndpoint=http://127.0.0.1:{port}/devstoreaccount1"
    )
    program = Path(npm) / "node_modules" / ".bin" / "azurite-blob"
    command = [program, "--inMemoryPersistence", "--blobPort", port, "--silent", "--skipApiVersionCheck"]
    server = Server([str(part) for part in command], port, {"AZURE_STORAGE_CONNECTION_STRING": connection})
    make_container(port, "games")
    return server


def make_container(port, name):
    """Makes a container by the REST API, signed with the account's key."""
    import base64
    import hashlib
    import hmac
    from email.utils import formatdate

    date = formatdate(usegmt=True)
    version = "2021-08-06"
    signed = (
        "PUT" + "\n" * 12 + f"x-ms-date:{date}\nx-ms-version:{version}\n"
        f"/devstoreaccount1/devstoreaccount1/{name}\nrestype:container"
    )
    digest = hmac.new(base64.b64decode(KEY_OF_AZURITE), signed.encode(), hashlib.sha256).digest()
    headers = {
        "x-ms-date": date,
        "x-ms-version": version,
        "Content-Length": "0",
        "Authorization": "SharedKey devstoreaccount1:" + base64.b64encode(digest).decode(),
    }
    url = f"http://127.0.0.1:{port}/devstoreaccount1/{name}?restype=container"
    urllib.request.urlopen(urllib.request.Request(url, method="PUT", headers=headers)).close()


class Fleet:
    """Workers with a file each."""

    def __init__(self, program, scratch, url, variables, workers, adds, killed):
        self.program, self.url, self.workers, self.adds, self.killed = program, url, workers, adds, killed
        keep = ("PATH", "LANG", "TMPDIR")
        self.environment = {name: os.environ[name] for name in keep if name in os.environ}
        self.environment |= {"HOME": str(scratch), **variables}
        self.folders = [scratch / f"worker-{worker}" for worker in range(workers)]
        for folder in self.folders:
            folder.mkdir()
        self.kills = self.lost_races = self.syncs = 0
        self.counting = threading.Lock()

    def run(self, worker, *arguments, stdin=None, chance=None):
        """Runs a command; with `chance` it may be killed at any moment, and is then run again until it ends."""
        command = [self.program, "-f", str(self.folders[worker] / "Memories.md"), *arguments]
        while True:
            process = subprocess.Popen(
                command,
                env=self.environment,
                cwd=self.folders[worker],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            if chance and chance.random() < 0.3:
                timer = threading.Timer(chance.random() ** 2 * 0.05, process.kill)
                timer.start()
                out, err = process.communicate(stdin)
                timer.cancel()
            else:
                out, err = process.communicate(stdin)
            if process.returncode == -signal.SIGKILL:
                with self.counting:
                    self.kills += 1
                continue
            return process.returncode, out.decode(), err.decode()

    def must(self, worker, *arguments, **options):
        code, out, err = self.run(worker, *arguments, **options)
        if code != 0:
            raise SystemExit(f"worker {worker}: {arguments}: exit code {code}\n{out}{err}")
        return out

    def sync(self, worker, chance=None):
        for _ in range(50):
            code, out, err = self.run(worker, "sync", self.url, "--json", chance=chance)
            if code == 0:
                with self.counting:
                    self.syncs += 1
                    self.lost_races += json.loads(out)["lost_races"]
                return
            if code != 3:
                raise SystemExit(f"worker {worker}: exit code {code}\n{out}{err}")
        raise SystemExit(f"worker {worker} never got through: {err}")

    def work(self, worker):
        chance = random.Random(worker) if self.killed else None
        for number in range(self.adds):
            place = str(1 + (worker + number) % PLACES)
            title, text = f"Lever {worker} {number}", f"Lever {worker} of row {number} opens door {worker}-{number}."
            self.must(worker, "add", place, text, "--title", title, "--new-place", chance=chance)
            turn = {
                "id": f"{worker}-{number}",
                "turn": 1000 * worker + number + 1,
                "action": "push button",
                "response": "Click.",
                "location_before": {"id": 99, "name": "Lift"},
                "location_after": {"id": 99, "name": "Lift"},
                "world_changed": False,
            }
            self.must(worker, "record", stdin=json.dumps(turn).encode(), chance=chance)
            if number % BETWEEN_SYNCS == BETWEEN_SYNCS - 1:
                self.sync(worker, chance)

    def play(self):
        threads = [threading.Thread(target=self.guarded, args=(worker,)) for worker in range(self.workers)]
        self.failures = []
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.failures:
            raise self.failures[0]
        return time.monotonic() - began

    def guarded(self, worker):
        try:
            self.work(worker)
        except BaseException as failure:  # A thread would swallow it.
            self.failures.append(failure)

    def check(self, name, seconds):
        expected = {f"Lever {worker} {number}" for worker in range(self.workers) for number in range(self.adds)}
        for worker in range(self.workers):
            self.sync(worker)
        texts = [(folder / "Memories.md").read_text() for folder in self.folders]
        code, remote, err = self.run(0, "show", "--all", "-f", self.url)
        if code != 0:
            raise SystemExit(f"the bucket cannot be read: {err}")
        for whose, text in [("the bucket", remote), *((f"worker {at}", text) for at, text in enumerate(texts))]:
            found = re.findall(r"Lever \d+ \d+(?=\*\*)", text)
            tries = re.findall(r"`push button`(?: ×(\d+))?", text)
            if sorted(found) != sorted(expected):
                missing, extra = expected - set(found), len(found) - len(set(found))
                raise SystemExit(f"{name}: {whose} has {len(found)} memories; missing {sorted(missing)[:5]}, {extra} twice")
            tried = sum(int(count or 1) for count in tries)
            if tried != self.workers * self.adds:
                raise SystemExit(f"{name}: {whose} counts {tried} tries instead of {self.workers * self.adds}")
        print(
            f"{name}: {len(expected)} of {len(expected)} memories and {self.workers * self.adds} tries in the copy and in "
            f"each of {self.workers} files; {seconds:.1f} s, {self.syncs} syncs, {self.lost_races} lost races, "
            f"{self.kills} kills",
            flush=True,
        )


def measure(options, program, workers):
    """Workers that add a memory and sync, as fast as they can, for some seconds: one line of a table."""
    with tempfile.TemporaryDirectory() as scratch:
        scratch, server = Path(scratch), moto()
        try:
            fleet = Fleet(program, scratch, "s3://games/zork/Memories.md", server.variables, workers, 0, False)
            filled = "".join(
                f"## Location {place}: Room {place}\n\n### Memories\n\n"
                + "".join(f"**[NOTE] Thing {place} {n}** *(Ep1, T{n})*\nThing {n} of room {place}.\n\n" for n in range(10))
                + "---\n\n"
                for place in range(1, options.memories // 10 + 1)
            )
            (fleet.folders[0] / "Memories.md").write_text("# Location Memories\n\n" + filled)
            for worker in range(workers):
                fleet.must(worker, "sync", fleet.url)
            fleet.syncs = fleet.lost_races = 0
            times, requests, sent, end = [], [], [], time.monotonic() + options.seconds

            def work(worker):
                number = 0
                while time.monotonic() < end:
                    title = f"Lever {worker} {number}"
                    fleet.must(worker, "add", str(1 + (worker + number) % 8), f"It is lever {worker}-{number}.", "--title", title)
                    began = time.monotonic()
                    out = json.loads(fleet.must(worker, "sync", fleet.url, "--json"))
                    with fleet.counting:
                        times.append(time.monotonic() - began)
                        requests.append(out["requests"])
                        sent.append(out["sent_bytes"] + out["received_bytes"])
                        fleet.lost_races += out["lost_races"]
                    number += 1

            threads = [threading.Thread(target=work, args=(worker,)) for worker in range(workers)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            size = (fleet.folders[0] / "Memories.md").stat().st_size
        finally:
            server.stop()
    times.sort()
    syncs = len(times)
    print(
        f"| {workers} | {syncs * 60 / options.seconds:.0f} | {fleet.lost_races / syncs:.1f} | {sum(requests) / syncs:.1f} | "
        f"{sum(sent) / syncs / size:.1f} | {times[syncs // 2] * 1000:.0f} ms | {times[syncs * 95 // 100] * 1000:.0f} ms |",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
    parser.add_argument("npm", type=Path)
    parser.add_argument("--workers", type=int, default=40)
    parser.add_argument("--adds", type=int, default=25)
    parser.add_argument("--rounds", default="s3,az,file,killed")
    parser.add_argument("--rates", help="numbers of workers whose syncs a minute are measured, instead of the rounds")
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--memories", type=int, default=1000)
    options = parser.parse_args()
    program = str(options.program.resolve())
    if options.rates:
        print("| workers | syncs a minute | lost races a sync | requests a sync | bytes a sync / size of the file | median | p95 |")
        print("|---|---|---|---|---|---|---|")
        for workers in options.rates.split(","):
            measure(options, program, int(workers))
        return
    for name in options.rounds.split(","):
        with tempfile.TemporaryDirectory() as scratch:
            scratch = Path(scratch)
            if name == "az":
                server, url = azurite(options.npm), "az://games/zork/Memories.md"
            elif name == "file":
                (scratch / "shared").mkdir()
                server, url = None, f"file://{scratch}/shared/Memories.md"
            else:
                server, url = moto(), "s3://games/zork/Memories.md"
            variables = server.variables if server else {}
            fleet = Fleet(program, scratch, url, variables, options.workers, options.adds, name == "killed")
            try:
                seconds = fleet.play()
                fleet.check(name, seconds)
            finally:
                if server:
                    server.stop()


if __name__ == "__main__":
    main()
