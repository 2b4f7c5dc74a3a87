"""A memory file means the same after the formatters that people run over their Markdown, with their defaults.

    python formatters.py NPM_FOLDER PATH_TO_MEMORIES

Five episodes are recorded. Then Prettier, dprint, mdformat and markdownlint --fix each format a copy of the file, and
of each copy `recall` of all places, `tried` of all tries and `check` have to answer as before. mdformat is the one of
this Python. Ends with 0 where they do.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TURNS = Path(__file__).resolve().parents[2] / "fixtures" / "turns"


def formatters(npm):
    """The command of each formatter, to be run in the folder of the file."""
    programs = npm / "node_modules" / ".bin"
    plugin = npm / "node_modules" / "@dprint" / "markdown" / "plugin.wasm"
    dprint = {"markdown": {}, "includes": ["*.md"], "plugins": [str(plugin)]}
    return {
        "Prettier": ([programs / "prettier", "--write", "Memories.md"], {}),
        "dprint": ([programs / "dprint", "fmt"], {"dprint.json": json.dumps(dprint)}),
        "mdformat": ([sys.executable, "-m", "mdformat", "Memories.md"], {}),
        "markdownlint --fix": ([programs / "markdownlint-cli2", "--fix", "Memories.md"], {}),
    }


class Memory:
    def __init__(self, program, folder):
        self.program, self.folder = Path(program).resolve(), folder
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "DPRINT_CACHE_DIR": str(folder / "cache")}

    def run(self, *arguments, may_fail=False):
        done = subprocess.run([self.program, *map(str, arguments)], cwd=self.folder, env=self.environment,
                              capture_output=True, text=True)
        if done.returncode and not may_fail:
            sys.exit(f"{arguments}: {done.stdout}{done.stderr}")
        return done.stdout

    def answers(self, asked):
        """`recall` of each place, and `tried` of each of its actions."""
        answers = {}
        for place, actions in asked.items():
            answers[place] = self.run("recall", place, "--all")
            for action in actions:
                answers[place, action] = self.run("tried", place, action, may_fail=True)
        return answers

    def asked(self):
        """All places, each with the actions that were tried there."""
        asked = {}
        for place in json.loads(self.run("list", "--json"))["sections"]:
            recalled = json.loads(self.run("recall", place["scope"], "--all", "--json"))
            asked[place["scope"]] = [tried["action"] for tried in recalled["scopes"][0].get("tried", [])]
        return {place: actions for place, actions in asked.items() if place.startswith("location:")}


def main():
    npm, program = Path(sys.argv[1]).resolve(), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        recorded = Memory(program, folder / "recorded")
        recorded.folder.mkdir()
        for episode in range(1, 6):
            recorded.run("-q", "record", "--turns", TURNS / f"zork1_ep{episode}.jsonl")
        asked = recorded.asked()
        expected = recorded.answers(asked)
        failed = False
        for name, (command, files) in formatters(npm).items():
            copy = Memory(program, folder / name.split()[0])
            shutil.copytree(recorded.folder, copy.folder)
            for file, text in files.items():
                (copy.folder / file).write_text(text)
            # markdownlint reports what it cannot fix.
            done = subprocess.run(command, cwd=copy.folder, env=copy.environment, capture_output=True, text=True)
            before, after = ((memory.folder / "Memories.md").read_text() for memory in (recorded, copy))
            if before == after:
                sys.exit(f"{name} changed nothing: {done.stdout}{done.stderr}")
            found = copy.answers(asked)
            wrong = [key for key in expected if expected[key] != found[key]]
            problems = json.loads(copy.run("check", "--json", may_fail=True))["problems"]
            changed = sum(1 for line in after.splitlines() if line not in set(before.splitlines()))
            print(f"{name}: {changed} lines changed, {len(wrong)} of {len(expected)} answers differ, {len(problems)} problems")
            for key in wrong[:5]:
                print(f"--- {key}\n{expected[key]}+++\n{found[key]}")
            for problem in problems[:5]:
                print(f"    {problem}")
            failed = failed or bool(wrong or problems)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
