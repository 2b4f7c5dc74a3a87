"""The real agents read what `memories setup` writes, and their files have the bytes of before after `--remove`.

    python tests/clients/setup.py NPM_BIN HERMES NODE OPENCLAW MEMORIES

No agent needs a key, a network or a model for this: each is asked for its servers, and Codex for its hooks.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

LIMIT = 100
"""Seconds that one agent may take."""

EVENTS = {"sessionStart", "preToolUse", "postToolUse", "preCompact", "sessionEnd"}


class Home:
    """A home in which each agent has settings of a person."""

    def __init__(self, folder: Path, program: Path) -> None:
        self.folder = folder
        self.program = program
        # Codex makes no helpers below a temporary folder, and says so on stderr.
        self.environment = {
            "HOME": str(folder),
            "PATH": f"{program.parent}:{os.environ['PATH']}",
            "TERM": "dumb",
            "NO_COLOR": "1",
        }
        for name, text in SETTINGS.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, newline="")

    def run(self, *command: str, code: int = 0) -> str:
        done = subprocess.run(
            command, env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=LIMIT,
        )
        assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def texts(self) -> dict[str, str]:
        return {name: (self.folder / name).read_bytes().decode() for name in SETTINGS}


SETTINGS = {
    ".claude.json": '{\n  "numStartups": 1,\n  "mcpServers": {}\n}\n',
    ".claude/settings.json": '{"permissions": {"allow": []}}',
    ".codex/config.toml": 'model = "m" # mine\n',
    ".codex/hooks.json": '{\n\t"hooks": {}\n}',
    ".gemini/settings.json": '{\r\n  // mine\r\n  "general": {"vimMode": false}\r\n}\r\n',
    ".hermes/config.yaml": "# mine\nmcp_servers:\n  other:\n    url: http://127.0.0.1:9/mcp\n    enabled: false\n",
    ".openclaw/openclaw.json": "{\n  // mine\n  agents: { defaults: {} },\n}\n",
}


def says(what: str, *parts: str) -> None:
    for part in parts:
        assert part in what, f"`{part}` is not in:\n{what}"


def codex_hooks(home: Home, codex: str, command: str) -> None:
    """Codex lists its hooks by its app server alone."""
    requests = [
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "setup", "version": "1"}}},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [str(home.folder)]}},
    ]
    with subprocess.Popen(
        [codex, "app-server"], env=home.environment, cwd=home.folder, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as server:
        assert server.stdin and server.stdout
        try:
            for request in requests:
                server.stdin.write(json.dumps({"jsonrpc": "2.0", **request}) + "\n")
                server.stdin.flush()
                for line in server.stdout:
                    answer = json.loads(line)
                    if answer.get("id") == request["id"]:
                        break
        finally:
            server.kill()
    (listed,) = answer["result"]["data"]
    assert not listed["warnings"] and not listed["errors"], listed
    assert {hook["eventName"] for hook in listed["hooks"]} == EVENTS, listed
    assert all(hook["command"] == command for hook in listed["hooks"]), listed
    assert all(hook["timeoutSec"] in (3, 5) for hook in listed["hooks"]), listed


def agents_read_it(home: Home, programs: Path, hermes: str, openclaw: list[str]) -> None:
    claude, codex, gemini = (str(programs / name) for name in ("claude", "codex", "gemini"))
    says(home.run(claude, "mcp", "get", "memories"), "Connected", f"Command: {home.program}", "--configured-model")
    says(home.run(codex, "mcp", "list"), "memories", "mcp --configured-model --tools places shaping", "enabled")
    codex_hooks(home, codex, f"{home.program} hook codex")
    says(home.run(gemini, "mcp", "list"), f"memories: {home.program} mcp --configured-model")
    says(home.run(hermes, "mcp", "list"), "memories", "other")
    says(home.run(*openclaw, "config", "validate"), "Config valid")
    says(home.run(*openclaw, "mcp", "list"), "- memories")


def packages_are_read(home: Home, programs: Path) -> None:
    """The plugin for Codex and the extension for Gemini CLI, as a person installs them from a clone."""
    codex, gemini = str(programs / "codex"), str(programs / "gemini")
    home.run(codex, "plugin", "marketplace", "add", str(ROOT))
    home.run(codex, "plugin", "add", "memories@memories")
    says(home.run(codex, "plugin", "list"), "memories@memories", "installed, enabled")
    says(home.run(codex, "mcp", "list"), "memories", "mcp --provider offline --tools places shaping", "enabled")
    codex_hooks(home, codex, "memories hook codex")
    extension = str(ROOT / "integrations" / "gemini")
    says(home.run(gemini, "extensions", "validate", extension), "successfully validated")
    # A person says that the folder is trusted.
    (home.folder / ".gemini" / "trustedFolders.json").write_text(json.dumps({extension: "TRUST_FOLDER"}))
    home.run(gemini, "extensions", "install", extension, "--consent")
    says(home.run(gemini, "mcp", "list"), "(from memories): memories mcp --provider offline", "Connected")


def main() -> None:
    programs, hermes, node, openclaw, program = (Path(argument).absolute() for argument in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder).resolve(), program)
        before = home.texts()
        setup = [str(program), "setup"]
        says(home.run(*setup, code=1), "would write")
        assert home.texts() == before
        block = home.run(*setup, "--apply", code=1).partition("mcp_servers:\n")[2].splitlines(keepends=True)[:3]
        # A person pastes the lines for Hermes.
        hermes_settings = home.folder / ".hermes/config.yaml"
        with hermes_settings.open("a") as settings:
            settings.writelines(block)
        home.run(*setup)
        applied = home.texts()
        agents_read_it(home, programs, str(hermes), [str(node), str(openclaw)])
        # Claude Code writes its own state into the file of its servers; nobody else wrote.
        changed = {name for name, text in home.texts().items() if text != applied[name]}
        assert changed <= {".claude.json"}, changed
        says(home.run(*setup, "--remove", code=1), "remove from", "`mcp_servers.memories` in line 6")
        hermes_settings.write_text(before[".hermes/config.yaml"])
        after = home.texts()
        for name in SETTINGS.keys() - changed:
            assert after[name] == before[name], f"{name}:\n{after[name]}"
        if changed:
            state = json.loads(after[".claude.json"])
            assert state["mcpServers"] == {} and len(state) > 2, state
        left = [path for path in home.folder.rglob("*.memories-backup")]
        assert not left, left
    with tempfile.TemporaryDirectory() as folder:
        packages_are_read(Home(Path(folder).resolve(), program), programs)
    print("setup: Claude Code, Codex, Gemini CLI, Hermes and OpenClaw read their servers; all files are as before")


if __name__ == "__main__":
    main()
