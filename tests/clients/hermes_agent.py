"""The real Hermes with this project's memory provider and hooks, against a model on loopback.

    python hermes_agent.py PATH_TO_HERMES PATH_TO_MEMORIES

Ends with 0 where all is as expected.
"""

import json
import os
import shutil
import sys

from agents import ROOT, Place, messages_of, tool_results
from stub_model import Call

SETTINGS = """\
model:
  default: stub
  provider: custom
  base_url: {address}/v1
  api_key: dummy-key-0123456789
memory:
  provider: memories
plugins:
  enabled: [memories]
"""


def terminal(command):
    return Call("terminal", {"command": command})


class Hermes:
    def __init__(self, place, program):
        self.place, self.program = place, program
        home = place.home / ".hermes"
        shutil.copytree(ROOT / "integrations" / "hermes" / "memories", home / "plugins" / "memories")
        (home / "config.yaml").write_text(SETTINGS.format(address=place.model.address))
        self.environment = {"HERMES_HOME": str(home), "HERMES_SKIP_UPDATE_CHECK": "1", "NO_COLOR": "1"}

    def run(self, *arguments, with_program=True):
        environment = self.place.environment(with_program, **self.environment)
        return self.place.run(self.program, *arguments, environment=environment).stdout

    def session(self, steps, **more):
        """One `hermes chat`; the bodies of its requests."""
        self.place.model.play([*steps, "All done."])
        said = self.run("chat", "--quiet", "--yolo", "-q", "Go on.", **more)
        assert "All done." in said, said
        requests = self.place.model.requests
        assert len(requests) == len(steps) + 1, (len(requests), said)
        return requests


def notes(requests):
    """What stands beside the result of each tool."""
    return [values(result).get("memory", "") for result in tool_results(requests)]


def values(result):
    """The values of a tool's result; Hermes itself may add lines behind them."""
    return json.JSONDecoder().raw_decode(result)[0]


def a_failure_is_announced_before_and_at_the_second_attempt(hermes):
    requests = hermes.session([terminal("./build.sh --fast --quiet"), terminal("./build.sh --fast --quiet")])
    # The second request is the one before the second attempt.
    first = notes(requests[:2])
    assert len(first) == 1 and "fail again" in first[0], first
    second = notes(requests)[1]
    assert "no port is set" in second, second


def another_session_knows_it(hermes):
    [note] = notes(hermes.session([terminal("./build.sh --quiet --fast")]))
    assert "no port is set" in note, note


def what_succeeded_is_no_longer_announced(hermes):
    path = str(hermes.place.repo / "config.txt")
    edit = Call("patch", {"mode": "replace", "path": path, "old_string": "host=here", "new_string": "port=1"})
    requests = hermes.session([
        Call("read_file", {"path": path}), edit,
        terminal("./build.sh --fast --quiet"), terminal("./build.sh --fast --quiet"),
    ])
    assert (hermes.place.repo / "config.txt").read_text() == "port=1\n"
    assert notes(requests)[2:] == ["", ""], notes(requests)
    assert notes(hermes.session([terminal("./build.sh --fast --quiet")])) == [""]


def a_folder_in_the_command_is_the_place(hermes):
    hermes.session([terminal("cd sub && ./check.sh")])
    there = Call("terminal", {"command": "./check.sh", "workdir": str(hermes.place.repo / "sub")})
    [note] = notes(hermes.session([there]))
    assert "table of contents" in note, note


def a_session_begins_with_what_is_known(hermes):
    hermes.place.run("memories", "add", "dir:/", "The port belongs into config.txt.", "--title", "Port")
    [request, *_] = hermes.session([])
    [asked] = [message for message in messages_of(request) if message["role"] == "user"]
    assert "The port belongs into config.txt." in json.dumps(asked), asked


def tools_reach_the_file(hermes):
    fact = {"content": "`./build.sh` reads config.txt.", "title": "Build reads config", "scope": "dir:sub"}
    wrong = {"title": "Build reads config", "reason": "It reads the environment.", "scope": "dir:sub"}
    requests = hermes.session([
        Call("memories_remember", fact), Call("memories_recall", {"location": "dir:sub"}),
        Call("memories_search", {"question": "config"}), Call("memories_forget", wrong),
    ])
    stored, recalled, found, struck = [values(result)["result"] for result in tool_results(requests)]
    assert "stored" in stored and "struck" in struck, (stored, struck)
    assert "reads config.txt" in recalled and "reads config.txt" in found, (recalled, found)


def trouble_never_reaches_the_agent(hermes):
    memories = hermes.place.repo / "Memories.md"
    kept = memories.read_bytes()
    memories.write_bytes(b"\xff\xfe\x00broken\n## Location\n")
    for with_program in (True, False):
        requests = hermes.session([terminal("cd sub && ./check.sh"), terminal("echo here")], with_program=with_program)
        assert values(tool_results(requests)[-1])["output"] == "here", tool_results(requests)
    memories.write_bytes(kept)


SCENES = [
    a_failure_is_announced_before_and_at_the_second_attempt,
    another_session_knows_it,
    what_succeeded_is_no_longer_announced,
    a_folder_in_the_command_is_the_place,
    a_session_begins_with_what_is_known,
    tools_reach_the_file,
    trouble_never_reaches_the_agent,
]


def main(hermes_program, program):
    with Place(program) as place:
        hermes = Hermes(place, hermes_program)
        version = hermes.run("--version").splitlines()[0]
        for scene in SCENES:
            try:
                scene(hermes)
            except AssertionError:
                print(f"{scene.__name__}; the log of the hooks:\n{place.hook_log()}", file=sys.stderr)
                raise
    print(f"{version}: {len(SCENES)} scenes with provider and hooks, all as expected")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
