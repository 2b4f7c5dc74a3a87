"""A home and a repository of their own for a coding agent, and the model that it talks to."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from stub_model import Model

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Succeeds once `config.txt` names a port. Its reply names the file, as a compiler would.
BUILD = """\
#!/bin/sh
if grep -q '^port=' config.txt; then echo built; else echo "config.txt:1: error: no port is set" >&2; exit 3; fi
"""
CHECK = """\
#!/bin/sh
echo "error: there is no table of contents" >&2
exit 1
"""


class Place:
    """A temporary folder with `home`, `repo` and `bin`, where `memories` is the program under test."""

    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory(prefix="memories-agent-")
        base = pathlib.Path(self.folder.name).resolve()
        self.home, self.repo, self.bin = base / "home", base / "repo", base / "bin"
        for folder in (self.home, self.repo / "sub", self.bin):
            folder.mkdir(parents=True)
        (self.bin / "memories").symlink_to(os.path.abspath(program))
        self.model = Model()
        self.log = base / "hooks.log"
        write_script(self.repo / "build.sh", BUILD)
        write_script(self.repo / "sub" / "check.sh", CHECK)
        (self.repo / "config.txt").write_text("host=here\n")
        self.run("git", "init", "--quiet")
        self.run("memories", "init")
        self.run("git", "add", ".")
        self.run("git", "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "--quiet", "-m", "first")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.model.close()
        self.folder.cleanup()

    def environment(self, with_program=True, **more):
        # Only few folders beside ours: another `memories` on the path would hide a missing one.
        folders = [os.path.dirname(shutil.which(name) or "/usr/bin/") for name in ("node", "git", "sh")]
        return {
            "HOME": str(self.home), "PATH": ":".join(([str(self.bin)] if with_program else []) + folders),
            "MEMORIES_HOOK_LOG": str(self.log), "SHELL": "/bin/sh", "GIT_CONFIG_GLOBAL": "/dev/null", "TERM": "dumb",
            **more,
        }

    def run(self, *command, expect=0, environment=None, limit=60):
        """Runs a command in the repository; its two streams are the answer."""
        done = subprocess.run(
            command, cwd=self.repo, env=environment or self.environment(), capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=limit,
        )
        assert expect is None or done.returncode == expect, (command, done.returncode, done.stdout, done.stderr)
        return done

    def hook_log(self):
        return self.log.read_text() if self.log.exists() else ""


def write_script(path, text):
    path.write_text(text)
    path.chmod(0o755)


def tool_results(requests):
    """Texts of what tools answered, in the last request: Messages, Responses, Chat Completions and generateContent."""
    found = []
    for message in messages_of(requests[-1]):
        if message.get("type") == "function_call_output":
            found.append(message["output"])
        elif message.get("role") == "tool":
            found.append(message["content"])
        for part in message.get("parts", []):
            if "functionResponse" in part:
                found.append(json.dumps(part["functionResponse"]["response"], ensure_ascii=False))
        for block in message["content"] if isinstance(message.get("content"), list) else []:
            if block.get("type") == "tool_result":
                found.append(block["content"] if isinstance(block["content"], str) else json.dumps(block["content"]))
    return found


def messages_of(request):
    return request.get("messages") or request.get("input") or request.get("contents") or []


def said_since(requests, number):
    """Everything that request `number` has and the one before it had not."""
    before = len(messages_of(requests[number - 1])) if number else 0
    return json.dumps(messages_of(requests[number])[before:], ensure_ascii=False)
