"""The real Codex and the real Gemini CLI with hooks that run `memories hook`, against a model on loopback.

    python command_hooks.py PATH_TO_CODEX PATH_TO_GEMINI PATH_TO_MEMORIES

Ends with 0 where all is as expected.
"""

import json
import os
import sys

from agents import Place, messages_of, said_since, tool_results
from stub_model import Call

CODEX = """\
model = "stub"
model_provider = "stub"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.stub]
name = "stub"
base_url = "{address}/v1"
env_key = "STUB_KEY"
wire_api = "responses"

[analytics]
enabled = false
"""


class Codex:
    hook = "codex"

    def __init__(self, place, program):
        self.place, self.program = place, program
        home = place.home / ".codex"
        home.mkdir()
        (home / "config.toml").write_text(CODEX.format(address=place.model.address))
        events = ["SessionStart", "PreToolUse", "PostToolUse", "PreCompact", "SessionEnd"]
        run = {"type": "command", "command": "memories hook codex", "timeout": 3}
        (home / "hooks.json").write_text(json.dumps({"hooks": {event: [{"hooks": [run]}] for event in events}}))
        # Hooks are trusted by a person in the terminal; this flag stands for it.
        self.arguments = ["exec", "--json", "--dangerously-bypass-hook-trust", "Go on."]
        self.environment = {"STUB_KEY": "dummy-key-0123456789"}

    def shell(self, command, folder=None):
        return Call("exec_command", {"cmd": command, **({"workdir": str(folder)} if folder else {})})

    def mend(self, path, text):
        change = f"@@\n-{path.read_text().strip()}\n+{text}"
        patch = f"*** Begin Patch\n*** Update File: {path.name}\n{change}\n*** End Patch"
        return self.shell(f"apply_patch <<'PATCH'\n{patch}\nPATCH")


class Gemini:
    hook = "gemini"

    def __init__(self, place, program):
        self.place, self.program = place, program
        home = place.home / ".gemini"
        home.mkdir()
        events = ["SessionStart", "BeforeTool", "AfterTool", "PreCompress", "SessionEnd"]
        run = {"type": "command", "name": "memories", "command": "memories hook gemini", "timeout": 5000}
        (home / "settings.json").write_text(json.dumps({
            "hooks": {event: [{"hooks": [run]}] for event in events},
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
        }))
        # A model is named, so that no other one is asked which to take.
        self.arguments = ["--yolo", "--model", "gemini-2.5-pro", "-p", "Go on."]
        self.environment = {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": place.model.address}

    def shell(self, command, folder=None):
        where = {"dir_path": str(folder)} if folder else {}
        return Call("run_shell_command", {"command": command, "description": "Run it", **where})

    def mend(self, path, text):
        return Call("write_file", {"file_path": str(path), "content": text + "\n"})


def session(agent, steps, with_program=True):
    agent.place.model.play([*steps, "All done."])
    done = agent.place.run(
        agent.program, *agent.arguments, environment=agent.place.environment(with_program, **agent.environment)
    )
    requests = agent.place.model.requests
    assert "All done." in done.stdout and len(requests) == len(steps) + 1, (done.stdout, done.stderr, len(requests))
    return requests


def noted(requests, number):
    """Whether request `number` says for the first time that a command failed here, or will fail again."""
    text = said_since(requests, number)
    return "failed here" in text or "fail again" in text


def scenes(agent):
    build, flags_changed = agent.shell("./build.sh --fast --quiet"), agent.shell("./build.sh --quiet --fast")
    requests = session(agent, [build, build])
    assert not noted(requests, 0) and noted(requests, 1) and noted(requests, 2), requests[-1]
    assert noted(session(agent, [flags_changed]), 1), "another session does not know it"
    sub = agent.place.repo / "sub"
    session(agent, [agent.shell("cd sub && ./check.sh")])
    assert noted(session(agent, [agent.shell("./check.sh", sub)]), 1), "a folder in the command is not the place"
    requests = session(agent, [agent.mend(agent.place.repo / "config.txt", "port=1"), build, build])
    assert "built" in tool_results(requests)[-1], tool_results(requests)
    assert not noted(requests, 2) and not noted(requests, 3), requests[-1]
    agent.place.run("memories", "add", "dir:/", "The port belongs into config.txt.", "--title", "Port")
    requests = session(agent, [build])
    assert not noted(requests, 1), requests[-1]
    assert "The port belongs into config.txt." in json.dumps(messages_of(requests[0])), messages_of(requests[0])
    session(agent, [build], with_program=False)
    (agent.place.repo / "Memories.md").write_bytes(b"\xff\xfe\x00broken\n")
    session(agent, [build])


def main(codex, gemini, program):
    for agent, path in ((Codex, codex), (Gemini, gemini)):
        with Place(program) as place:
            made = agent(place, path)
            version = place.run(path, "--version", environment=place.environment(**made.environment)).stdout.strip()
            try:
                scenes(made)
            except AssertionError:
                print(f"{version}; the log of the hooks:\n{place.hook_log()}", file=sys.stderr)
                raise
        print(f"{agent.__name__} {version}: all as expected")


if __name__ == "__main__":
    main(*[os.path.abspath(path) for path in sys.argv[1:4]])
