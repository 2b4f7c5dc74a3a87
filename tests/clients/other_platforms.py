"""The program for another platform, beside the program of this one: the same commands, the same answers, the same file.

    python other_platforms.py PROGRAM OTHER [RUNNER]...
    python other_platforms.py target/debug/memories memories.exe wine
    python other_platforms.py target/debug/memories memories-arm qemu-aarch64-static

Five episodes are recorded, recalled, corrected and restored; then come MCP, hooks, the page, files that are in use, and
names and line ends of Windows. Ends with 0 where all is as expected.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TURNS = ROOT / "fixtures" / "turns"
LIMIT = 300
NAMES = ["heron", "anvil", "lantern", "thistle", "barrel", "comet", "otter", "plough"]
NOW = "2026-01-31T10:40:00Z"

#: Each with the same answer, exit code and file on every platform.
COMMANDS = [
    *(["record", "--turns", f"zork1_ep{number}.jsonl"] for number in range(1, 6)),
    ["check"],
    ["recall", "75"],
    ["recall", "75", "--json"],
    ["tried", "75", "take", "rug"],
    ["query", "who steals my things", "-n", "3"],
    ["map", "path", "64", "75"],
    ["list"],
    ["top", "-n", "5"],
    ["stats"],
    ["add", "75", "--category", "NOTE", "--title", "A lamp", "--text", "It shines."],
    ["supersede", "75", "A lamp", "--title", "A lantern", "--text", "It shines for 300 turns."],
    ["invalidate", "75", "A lantern", "--reason", "it went out"],
    ["show", "75"],
    ["diff"],
    ["restore"],
    ["show", "75"],
    ["rename", "75", "The Living Room"],
    ["log", "-n", "3"],
    ["episode", "start"],
    ["episode", "best"],
    ["export", "--format", "jsonl", "all.jsonl"],
    ["import", "all.jsonl", "--dry-run"],
    ["recall", "nowhere"],
    ["check", "--fix"],
    ["check"],
]


class Program:
    """A program with its runner, in a folder of its own."""

    def __init__(self, folder: Path, command: list[str]) -> None:
        self.folder, self.command = folder, command
        folder.mkdir()
        for path in TURNS.glob("zork1_ep*.jsonl"):
            (folder / path.name).write_bytes(path.read_bytes())
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "MEMORIES_NOW": NOW, "WINEDEBUG": "-all", "LANG": "C.UTF-8",
            "WINEPREFIX": str(folder.parent / "wine"), "USERPROFILE": str(folder), "TERM": "dumb",
        }

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*self.command, *arguments], cwd=self.folder, env=self.environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )

    def run(self, *arguments: str, text: bytes = b"") -> tuple[int, str, str]:
        with self.start(*arguments) as started:
            output, errors = started.communicate(text, timeout=LIMIT)
        return started.returncode, self.plain(output), self.plain(errors)

    def plain(self, output: bytes) -> str:
        """The output with line ends and paths as on this platform."""
        text = output.decode().replace("\r\n", "\n")
        text = re.sub(r"(\\\\\?\\)?[A-Z]:\\[^`'\"\s]*", lambda path: path[0].split(":", 1)[1].replace("\\", "/"), text)
        # A slower program writes its turns in other portions, so its states have other numbers.
        return re.sub(r"state \d+", "state N", text.replace(str(self.folder), "FOLDER"))

    @property
    def file(self) -> Path:
        return self.folder / "Memories.md"


def expect(what: str, found: object, wanted: object) -> None:
    if found != wanted:
        sys.exit(f"{what}:\n{found}\nand not\n{wanted}")


def commands_agree(here: Program, other: Program) -> None:
    for command in COMMANDS:
        expect(" ".join(command), other.run(*command), here.run(*command))
        expect(f"the file behind {command}", other.file.read_text(), here.file.read_text())


def writers_wait(other: Program) -> None:
    """Readers and writers at once: each write is there, and no reader sees half a file."""
    def add(number: int) -> tuple[int, str, str]:
        title, text = f"Note {number}", f"The sign of house {NAMES[number]} shows a {NAMES[-1 - number]}."
        return other.run("add", "world", "--category", "NOTE", "--title", title, "--text", text)

    with ThreadPoolExecutor(4) as pool:
        written = list(pool.map(add, range(8)))
        read = list(pool.map(lambda _: other.run("recall", "75"), range(8)))
    expect("eight writers", [code for code, _, _ in written], [0] * 8)
    expect("eight readers", [code for code, _, _ in read], [0] * 8)
    text = other.file.read_text()
    expect("their notes", [number for number in range(8) if f"] Note {number}**" not in text], [])


def mcp_answers(here: Program, other: Program) -> None:
    requests = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                                                     "clientInfo": {"name": "test", "version": "1"}}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {"id": 3, "method": "tools/call", "params": {"name": "get_location_memories", "arguments": {"location": 75}}},
    ]
    sent = "".join(json.dumps({"jsonrpc": "2.0", **request}) + "\n" for request in requests).encode()
    answers = [program.run("mcp", text=sent) for program in (here, other)]
    expect("mcp", answers[1][:2], answers[0][:2])
    assert "Living Room" in answers[0][1], answers[0]


def hooks_record(here: Program, other: Program) -> None:
    """A command that failed is announced when it is tried again, from POSIX shells and from PowerShell."""
    said = []
    for program in (here, other):
        subprocess.run(["git", "init", "--quiet", str(program.folder)], check=True)
        is_windows = program.command[-1].endswith(".exe")
        folder = "Z:" + str(program.folder).replace("/", "\\") if is_windows else str(program.folder)
        for tool, command in (("Bash", "cargo tset"), ("PowerShell", "npm rnu build")):
            shared = {"session_id": "s", "cwd": folder, "tool_name": tool, "tool_input": {"command": command}}
            failed = {"hook_event_name": "PostToolUseFailure", "error": "Exit code 1\nno such command", **shared}
            again = {"hook_event_name": "PreToolUse", **shared}
            for event in (failed, again):
                said.append(program.run("hook", "claude-code", text=json.dumps(event).encode()))
                assert command in said[-1][1], said[-1]
    expect("what hooks say", said[4:], said[:4])


def page_is_served(here: Program, other: Program) -> None:
    pages = []
    for program in (here, other):
        expect("report", program.run("report", "--output", "page.html", "--title", "Zork")[0], 0)
        pages.append((program.folder / "page.html").read_text())
    expect("the page", len(pages[1]), len(pages[0]))
    with other.start("serve", "--listen", "127.0.0.1:0") as server:
        assert server.stdout and server.stderr
        try:
            told = re.search(rb"http://127\.0\.0\.1:\d+/\S*", server.stdout.readline() + server.stderr.readline())
            assert told, "serve names no address"
            with urllib.request.urlopen(told[0].decode(), timeout=60) as answer:
                assert b"<title>" in answer.read(), "the page is not served"
        finally:
            server.kill()


def windows_keeps_its_ways(other: Program) -> None:
    """Line ends, marks of Notepad and names of devices. Wine itself does not resolve a path of more than 260 characters."""
    whole = other.file.read_bytes()
    other.file.write_bytes(b"\xef\xbb\xbf" + whole.replace(b"\n", b"\r\n"))
    expect("a file of Notepad", other.run("check")[0], 0)
    added = other.run("add", "world", "--category", "NOTE", "--title", "A mark", "--text", "It stays.")
    expect("add to a file of Notepad", added[0], 0)
    text = other.file.read_bytes()
    assert text.startswith(b"\xef\xbb\xbf") and b"\n" not in text.replace(b"\r\n", b""), "line ends are mixed"
    for name in ("NUL", "con.md"):
        code, _, errors = other.run("--file", name, "add", "world", "--category", "NOTE", "--title", "x", "--text", "y")
        assert code != 0 and errors.startswith("error: "), (name, code, errors)
    other.file.write_bytes(whole)


def main() -> None:
    program, other, *runner = sys.argv[1:]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        here = Program(folder / "here", [str(Path(program).resolve())])
        there = Program(folder / "there", [*runner, str(Path(other).resolve())])
        # Wine makes its own files first, and says so.
        there.run("--version")
        commands_agree(here, there)
        mcp_answers(here, there)
        hooks_record(here, there)
        page_is_served(here, there)
        writers_wait(there)
        if other.endswith(".exe"):
            windows_keeps_its_ways(there)
    print(f"{Path(other).name}: {len(COMMANDS)} commands, MCP, hooks and the page as on this machine")


if __name__ == "__main__":
    main()
