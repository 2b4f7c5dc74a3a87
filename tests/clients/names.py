"""Names of servers are looked up as the system's own programs do it: hosts file, name server, search domain.

    python names.py PATH_TO_MEMORIES

A released program for Linux is static and has a resolver of its own, so `localhost` shows little. This starts itself in
network and mount namespaces of its own (which takes root), with its own `/etc/hosts`, `/etc/resolv.conf` and name
server, and lets `memories record` ask a model behind each name. Ends with 0 where all is as expected.
"""

import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

A, CNAME, AAAA = 1, 5, 28
LOOPBACK = {A: [socket.inet_aton("127.0.0.1")], AAAA: []}
RECORDS = {
    "llm.games.test": LOOPBACK,
    "alias.games.test": "llm.games.test",
    # Too many addresses for a datagram: the whole answer comes by TCP.
    "many.games.test": {A: LOOPBACK[A] * 60, AAAA: []},
    "six.games.test": {A: [], AAAA: [socket.inet_pton(socket.AF_INET6, "::1")]},
}
NAMES = {
    "hosted.example": "the hosts file",
    "llm.games.test": "the name server",
    "llm": "the name server, by the search domain",
    "alias.games.test": "the name server, by an alias",
    "many.games.test": "the name server, by TCP",
    "six.games.test": "the name server, an IPv6 address",
}
UDP_BYTES = 512
asked = []


class Model(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        asked.append(self.headers["Host"].rsplit(":", 1)[0])
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": '{"should_remember": false}'}
        body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Model6(ThreadingHTTPServer):
    address_family = socket.AF_INET6


def encoded(name):
    return b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\0"


def answer(query, limit):
    """The reply to one DNS query, with the truncation flag where it is longer than `limit`."""
    parts, at = [], 12
    while query[at]:
        parts.append(query[at + 1 : at + 1 + query[at]].decode())
        at += 1 + query[at]
    name, (kind, _) = ".".join(parts).lower(), struct.unpack("!HH", query[at + 1 : at + 5])
    question, records, found = query[12 : at + 5], [], RECORDS.get(name)
    if isinstance(found, str):
        records.append((encoded(name), CNAME, encoded(found)))
        name, found = found, RECORDS[found]
    records += [(encoded(name), kind, address) for address in (found or {}).get(kind, [])]
    body = b"".join(owner + struct.pack("!HHIH", kind, 1, 60, len(data)) + data for owner, kind, data in records)
    flags, count = 0x8180 | (0 if found else 3), len(records)
    if 12 + len(question) + len(body) > limit:
        flags, count, body = flags | 0x0200, 0, b""
    return query[:2] + struct.pack("!HHHHH", flags, 1, count, 0, 0) + question + body


def serve_datagrams(server):
    while True:
        query, client = server.recvfrom(4096)
        server.sendto(answer(query, UDP_BYTES), client)


def serve_streams(server):
    while True:
        client, _ = server.accept()
        with client:
            while length := client.recv(2, socket.MSG_WAITALL):
                reply = answer(client.recv(*struct.unpack("!H", length), socket.MSG_WAITALL), 65535)
                client.sendall(struct.pack("!H", len(reply)) + reply)


def start(kind, serve):
    server = socket.socket(socket.AF_INET, kind)
    server.bind(("127.0.0.1", 53))
    if kind == socket.SOCK_STREAM:
        server.listen()
    threading.Thread(target=serve, args=[server], daemon=True).start()


def record(program, folder, name, port):
    command = [program, "-f", str(folder / "Memories.md"), "record", "--strict", "--location", "5:Cave"]
    command += ["--action", "take lamp", "--response", "Taken.", "--score-before", "0", "--score-after", "5"]
    environment = {"HOME": str(folder), "MEMORIES_BASE_URL": f"http://{name}:{port}/v1", "MEMORIES_MODEL": "m"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


def check(program, folder):
    model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    port = model.server_port
    for server in [model, Model6(("::1", port), Model)]:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    start(socket.SOCK_DGRAM, serve_datagrams)
    start(socket.SOCK_STREAM, serve_streams)
    for name, source in NAMES.items():
        done = record(program, folder, name, port)
        assert done.returncode == 0 and asked and asked.pop() == name, (name, source, done)
        print(f"{name}: found by {source}")
    gone = record(program, folder, "gone.games.test", port)
    assert gone.returncode == 3 and "gone.games.test" in gone.stderr and not asked, gone
    print("gone.games.test: an error names it")


def main():
    program = os.path.abspath(sys.argv[1])
    if len(sys.argv) == 2:
        alone = ["unshare", "--net", "--mount", "--fork", "--kill-child"]
        if os.geteuid() != 0 or not shutil.which("unshare") or subprocess.run(alone + ["true"]).returncode != 0:
            print("names of servers are not checked: this takes root and namespaces")
            return
        sys.exit(subprocess.run(alone + [sys.executable, "-B", __file__, program, "alone"]).returncode)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name, text in {
            "resolv.conf": "nameserver 127.0.0.1\nsearch games.test\noptions timeout:1 attempts:1\n",
            "hosts": "127.0.0.1 localhost\n::1 localhost\n127.0.0.1 hosted.example\n",
        }.items():
            (folder / name).write_text(text)
            subprocess.run(["mount", "--bind", folder / name, Path("/etc") / name], check=True)
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        try:
            check(program, folder)
        finally:
            subprocess.run(["umount", "/etc/resolv.conf", "/etc/hosts"], check=True)


main()
