"""The real OpenClaw with this project's plugin, against a model on loopback.

    python openclaw.py PATH_TO_NODE PATH_TO_OPENCLAW_MJS PATH_TO_MEMORIES

OpenClaw needs a newer Node.js than its surroundings may have, so both are named. Ends with 0 where all is as expected.
"""

import json
import os
import sys

from agents import ROOT, Place, messages_of, said_since, tool_results
from stub_model import Call

MODEL = {
    "id": "stub", "name": "stub", "contextWindow": 200000, "maxTokens": 8000, "input": ["text"], "reasoning": False,
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
}


class OpenClaw:
    def __init__(self, place, node, program):
        self.place = place
        self.command = [node, program]
        home = place.home / ".openclaw"
        home.mkdir()
        stub = {
            "baseUrl": f"{place.model.address}/v1", "apiKey": "dummy", "api": "openai-completions", "models": [MODEL],
        }
        (home / "openclaw.json").write_text(json.dumps({
            "models": {"providers": {"stub": stub}},
            "agents": {"defaults": {
                "model": {"primary": "stub/stub"}, "workspace": str(place.repo), "skipBootstrap": True,
            }},
            "memory": {"search": {"enabled": False}},
            "plugins": {
                "load": {"paths": [str(ROOT / "integrations" / "openclaw")]},
                "entries": {"memories": {"enabled": True, "hooks": {"allowConversationAccess": True}}},
            },
        }))

    def session(self, name, steps, with_program=True):
        self.place.model.play([*steps, "All done."])
        environment = self.place.environment(with_program, NO_COLOR="1")
        environment["PATH"] = os.path.dirname(self.command[0]) + ":" + environment["PATH"]
        done = self.place.run(
            *self.command, "agent", "--local", "--agent", "main", "--session-key", f"agent:main:{name}", "--json",
            "--message", "Go on.", environment=environment, limit=120,
        )
        requests = self.place.model.requests
        assert "All done." in done.stdout and len(requests) == len(steps) + 1, (done.stdout, done.stderr[-3000:])
        return requests


def run(command):
    return Call("exec", {"command": command})


def noted(requests, number):
    text = said_since(requests, number)
    return "failed here" in text or "fail again" in text


def scenes(agent):
    build, flags_changed = run("./build.sh --fast --quiet"), run("./build.sh --quiet --fast")
    requests = agent.session("one", [build, build])
    assert not noted(requests, 0) and noted(requests, 1) and noted(requests, 2), tool_results(requests)
    agent.place.run("memories", "add", "dir:/", "The port belongs into config.txt.", "--title", "Port")
    edit = Call("edit", {
        "path": str(agent.place.repo / "config.txt"), "edits": [{"oldText": "host=here", "newText": "port=1"}],
    })
    requests = agent.session("two", [flags_changed, edit, build, build])
    assert "The port belongs into config.txt." in json.dumps(messages_of(requests[0])), messages_of(requests[0])
    assert noted(requests, 1), tool_results(requests)
    assert not noted(requests, 3) and not noted(requests, 4), tool_results(requests)
    assert "built" in tool_results(requests)[-1], tool_results(requests)
    (agent.place.repo / "Memories.md").write_bytes(b"\xff\xfe\x00broken\n")
    agent.session("three", [run("cd sub && ./check.sh")], with_program=False)


def main(node, openclaw, program):
    with Place(program) as place:
        agent = OpenClaw(place, node, openclaw)
        version = place.run(node, openclaw, "--version").stdout.strip()
        try:
            scenes(agent)
        except AssertionError:
            print(f"the log of the hooks:\n{place.hook_log()}", file=sys.stderr)
            raise
    print(f"{version}: all as expected")


if __name__ == "__main__":
    main(*[os.path.abspath(path) for path in sys.argv[1:4]])
