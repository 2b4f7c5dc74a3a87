"""The real Claude Code with this project's plugin, against a model on loopback.

    python claude_code.py PATH_TO_CLAUDE PATH_TO_MEMORIES

The plugin is installed as a person would install it, from the marketplace of this repository. Ends with 0 where all is
as expected.
"""

import fcntl
import json
import os
import re
import sys

from agents import ROOT, Place, messages_of, tool_results
from stub_model import Call

KEY = "sk-ant-dummy-0123456789abcdef"
TOOLS = "mcp__plugin_memories_memories__"


def bash(command):
    return Call("Bash", {"command": command, "description": "Run it"})


def notes(requests, number, event):
    """The texts that hooks of `event` put before the model in request `number`, and not earlier."""
    before = len(messages_of(requests[number - 1])) if number else 0
    texts = []
    for message in messages_of(requests[number])[before:]:
        if message["role"] == "system":
            content = message["content"]
            texts += [content] if isinstance(content, str) else [block["text"] for block in content]
    # Each note begins with the name of its event, and ends with the next one.
    parts = re.split(r"(?:^|\n\n)(?=\w+(?::\w+)? hook additional context: )", "\n\n".join(texts))
    return [part for part in parts if part.startswith(event)]


class Claude:
    def __init__(self, place, program):
        self.place, self.program = place, program
        self.environment = {
            "ANTHROPIC_BASE_URL": place.model.address, "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1",
            # Root may not leave all permissions out but in a sandbox, which a temporary home is enough of.
            "IS_SANDBOX": "1",
        }

    def manage(self, *arguments):
        return self.place.run(self.program, *arguments, environment=self.place.environment(**self.environment)).stdout

    def session(self, steps, *arguments, with_program=True):
        """One `claude -p`; the bodies of its requests, and the events that it printed."""
        self.place.model.play([*steps, "All done."])
        done = self.place.run(
            self.program, "-p", "Go on.", "--output-format", "stream-json", "--verbose",
            "--permission-mode", "bypassPermissions", *arguments,
            environment=self.place.environment(with_program, **self.environment),
        )
        events = [json.loads(line) for line in done.stdout.splitlines()]
        assert events[-1]["type"] == "result" and events[-1]["result"] == "All done.", events[-1]
        requests = self.place.model.requests
        assert len(requests) == len(steps) + 1, (len(requests), self.place.model.trouble)
        return requests, events


def installed(claude):
    """The plugin is valid, and installed from the marketplace."""
    for folder in (ROOT, ROOT / "integrations" / "claude-code"):
        claude.manage("plugin", "validate", "--strict", str(folder))
    claude.manage("plugin", "marketplace", "add", str(ROOT))
    claude.manage("plugin", "install", "memories@memories")
    requests, events = claude.session([])
    start = next(event for event in events if event.get("subtype") == "init")
    assert [server["status"] for server in start["mcp_servers"]] == ["connected"], start["mcp_servers"]
    commands = set(start["slash_commands"])
    assert {"memories:recall", "memories:remember", "memories:forget", "memories:memories"} <= commands, commands
    return requests


def a_failure_is_announced_before_and_at_the_second_attempt(claude):
    requests, _ = claude.session([bash("./build.sh --fast --quiet"), bash("./build.sh --fast --quiet")])
    assert notes(requests, 1, "PreToolUse") == [], notes(requests, 1, "PreToolUse")
    [note] = notes(requests, 1, "PostToolUseFailure")
    assert "./build.sh --fast --quiet" in note and "fail again" in note, note
    [warning] = notes(requests, 2, "PreToolUse")
    assert "build.sh" in warning and "no port is set" in warning, warning


def another_session_knows_it(claude):
    requests, _ = claude.session([bash("./build.sh --quiet --fast")])
    [warning] = notes(requests, 1, "PreToolUse")
    assert "no port is set" in warning, warning


def what_succeeded_is_no_longer_announced(claude):
    path = str(claude.place.repo / "config.txt")
    requests, _ = claude.session([
        Call("Read", {"file_path": path}),
        Call("Edit", {"file_path": path, "old_string": "host=here", "new_string": "port=1"}),
        bash("./build.sh --fast --quiet"),
        bash("./build.sh --fast --quiet"),
    ])
    assert tool_results(requests)[-2:] == ["built", "built"], tool_results(requests)
    for number in (3, 4):
        for event in ("PreToolUse", "PostToolUse"):
            assert notes(requests, number, event) == [], notes(requests, number, event)
    requests, _ = claude.session([bash("./build.sh --fast --quiet")])
    assert notes(requests, 1, "PreToolUse") == [], notes(requests, 1, "PreToolUse")


def a_folder_in_the_command_is_the_place(claude):
    requests, _ = claude.session([bash("cd sub && ./check.sh"), bash("cd sub && ./check.sh")])
    [warning] = notes(requests, 2, "PreToolUse")
    assert "table of contents" in warning, warning
    # The shell of Claude Code stays in a folder to which a command that succeeds has moved it.
    requests, _ = claude.session([bash("./check.sh"), bash("cd sub && true"), bash("./check.sh")])
    assert notes(requests, 1, "PreToolUse") == [], notes(requests, 1, "PreToolUse")
    [warning] = notes(requests, 3, "PreToolUse")
    assert "table of contents" in warning, warning


def settings_hold_an_attempt_back_or_switch_all_off(claude):
    """With `hold` the second attempt is refused, and the third is let through; `enabled = false` is silence."""
    settings = claude.place.repo / "memories.toml"
    kept = settings.read_text()
    check = bash("cd sub && ./check.sh")
    settings.write_text("[hooks]\nhold = true\n")
    first, second, third = tool_results(claude.session([check, check, check])[0])
    assert first.startswith("Exit code 1") and third == first, (first, third)
    assert second.startswith("PreToolUse:Bash hook error:") and "table of contents" in second, second
    settings.write_text("[hooks]\nenabled = false\n")
    requests, _ = claude.session([check, check])
    assert [notes(requests, number, "P") for number in range(3)] == [[], [], []], requests[-1]["messages"]
    settings.write_text(kept)


def a_session_begins_with_what_is_known(claude):
    claude.place.run("memories", "add", "dir:/", "The port belongs into config.txt.", "--title", "Port")
    requests, _ = claude.session([])
    [known] = notes(requests, 0, "SessionStart")
    assert "The port belongs into config.txt." in known, known


def tools_and_commands_reach_the_file(claude):
    stored = Call(TOOLS + "form_memory", {
        "content": "`./build.sh` reads config.txt.", "title": "Build reads config", "scope": "dir:sub",
    })
    requests, _ = claude.session([stored])
    assert "stored" in tool_results(requests)[-1], tool_results(requests)
    text = (claude.place.repo / "Memories.md").read_text()
    assert "Build reads config" in text and "## Folder sub" in text, text
    claude.place.model.play(["All done."])
    claude.place.run(
        claude.program, "-p", "/memories:recall sub",
        environment=claude.place.environment(**claude.environment),
    )
    assert "Argument: sub" in json.dumps(claude.place.model.requests[0]), claude.place.model.requests


def trouble_never_reaches_the_agent(claude):
    """A broken memory file, a lock that is held, a program that is gone: the session goes on as without the plugin."""
    place = claude.place
    memories = place.repo / "Memories.md"
    kept = memories.read_bytes()
    steps = [bash("cd sub && ./check.sh"), bash("echo here")]

    def undisturbed(**more):
        requests, events = claude.session(steps, **more)
        assert tool_results(requests)[-1] == "here", tool_results(requests)
        assert events[-1]["is_error"] is False, events[-1]

    for broken in (b"\xff\xfe\x00broken\n## Location\n", b"<<<<<<< mine\n# Location Memories\n=======\n"):
        memories.write_bytes(broken)
        undisturbed()
        assert memories.read_bytes() == broken, "a hook wrote into a file that cannot be read"
    memories.write_bytes(kept)
    with open(place.repo / ".memories" / "Memories.md" / "lock", "r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        undisturbed()
    requests, events = claude.session([], with_program=False)
    assert "memories is not on your PATH" in json.dumps(events), events
    undisturbed(with_program=False)
    sidecar = place.repo / ".memories"
    sidecar.rename(place.repo / "elsewhere")
    sidecar.write_text("not a folder")
    undisturbed()
    sidecar.unlink()
    (place.repo / "elsewhere").rename(sidecar)


SCENES = [
    a_failure_is_announced_before_and_at_the_second_attempt,
    another_session_knows_it,
    what_succeeded_is_no_longer_announced,
    a_folder_in_the_command_is_the_place,
    settings_hold_an_attempt_back_or_switch_all_off,
    a_session_begins_with_what_is_known,
    tools_and_commands_reach_the_file,
    trouble_never_reaches_the_agent,
]


def main(claude_program, program):
    with Place(program) as place:
        claude = Claude(place, claude_program)
        version = claude.manage("--version").strip()
        installed(claude)
        for scene in SCENES:
            try:
                scene(claude)
            except AssertionError:
                print(f"{scene.__name__}; the log of the hooks:\n{place.hook_log()}", file=sys.stderr)
                raise
        # Nothing of the key is kept.
        for path in place.repo.rglob("*"):
            assert not path.is_file() or KEY.encode() not in path.read_bytes(), path
    print(f"{version}: {len(SCENES)} scenes with the plugin, all as expected")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
