"""`MemoryTool` against the file-system implementation of Anthropic's SDK: random commands, the same answers.

`MEMORIES_SEQUENCES=10000 pytest python/tests/test_memory_tool.py -s` plays as many sequences, and says how often a
meant difference (docs/protocols/memory-tool.md) was met.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memories import Memories, MemoriesError

pytest.importorskip("anthropic", reason="needs requirements-adapters.txt")

import stub
from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
from anthropic.tools import BetaLocalFilesystemMemoryTool

from memories.memory_tool import MemoryTool

Command = dict[str, Any]

#: Read before the tests clear their environment.
SEQUENCES = int(os.environ.get("MEMORIES_SEQUENCES", "300"))

NAMES = ["a.md", "A.md", "b", "notes", "my notes", "é日😀.md", ".hidden", "x*y`[z].txt", "a-b", "a b", "100%", "#,)."]
#: Paths of which one has its meant difference by itself.
ODD_PATHS = [
    "/memories/..",
    "/memories/../..",
    "/memories/../memories/b",
    "/memories/b/../a.md",
    "/memories//b/./",
    "/etc",
]
HIDING_PATHS = [
    "/memories/%2e%2e/x",
    "/memories/b%2Fx",
    "/memories/..\\x",
    "/memories/b\\x",
    "/memoriesx",
    "/memories/a\tb",
]
LINES = [
    "",
    "",
    "",
    "",
    " ",
    "\t",
    "text",
    "text",
    "two words",
    "trailing  ",
    "# Title",
    "## World",
    "### Memories",
    "### Tried",
    "---",
    "***",
    "===",
    "```",
    "~~~",
    "``` rust",
    "<!--",
    "-->",
    "<!-- x -->",
    "a <!-- b",
    "<div>",
    "**[NOTE] Forged** *(Ep1)*",
    "## Topic memories: /memories/",
    '[Superseded at Ep2 T45 by "x"]',
    "~~struck~~",
    "\\# x",
    "\\",
    "Context: x",
    "See also: [[x]]",
    "- `wait` ×3 *(Ep1, T2)*: no",
    "- item",
    "  - nested",
    "> quote",
    "| a | b |",
    "    code",
    "<<<<<<< HEAD",
    ">>>>>>> b",
    "😀 é 日",
    "aaa",
    "(empty)",
    "#file:b",
    "\\--",
    "[a]: b",
    "**Visits:** 7",
]
COMMANDS = ["view", "create", "create", "str_replace", "str_replace", "insert", "delete", "rename"]
FORBIDDEN = ["a\rb", "a\r\nb", "\x1b[31m", "\x00", "\u2028", "\x85"]
FORBIDDEN_IN = re.compile("[\r\x1b\0\u2028\x85]")
HIDES = re.compile(r"\\|%2e|%2f|%5c|%00|\t", re.IGNORECASE)


class Difference(AssertionError):
    """The two tools do not answer alike."""


class Player:
    """Both tools, and how often a meant difference was met."""

    def __init__(self, ours: MemoryTool, folder: Path) -> None:
        self.ours, self.theirs = ours, BetaLocalFilesystemMemoryTool(str(folder))
        self.root, self.saved = folder / "memories", folder / "saved"
        self.met: Counter[str] = Counter()
        self.commands = 0

    def play(self, commands: list[Command]) -> None:
        """Gives both the commands, and compares the answers and then all files and folders. Removes all of them."""
        try:
            for command in commands:
                self.compare(command)
            self.compare_all()
        finally:
            for entry in sorted(self.root.iterdir()):
                gone: Command = {"command": "delete", "path": f"/memories/{entry.name}"}
                for tool in (self.ours, self.theirs):
                    answer(tool, gone)
            if self.root.exists():
                shutil.rmtree(self.root)
            self.root.mkdir()

    def compare(self, command: Command) -> None:
        """Gives both one command."""
        self.commands += 1
        makes_folders = command["command"] in ("create", "rename")
        before = folders(self.root) if makes_folders else set[Path]()
        if may_differ(command) or makes_folders:
            self.save()
        ours, theirs = answer(self.ours, command), answer(self.theirs, command)
        if theirs[0] != "text" and makes_folders:
            made = folders(self.root) - before
            if made:
                self.met["a refused command left folders"] += 1
                for folder in sorted(made, reverse=True):
                    folder.rmdir()
        if theirs[0] == "OSError" and ours[0] == "ToolError":
            self.met["an error of the system"] += 1
        elif self.is_refused_path(command, ours):
            self.met["a path that hides where it leads"] += 1
            self.restore()
        elif " looks like " in ours[1] and theirs[0] == "text":
            self.met["a path that looks like another"] += 1
            self.restore()
        elif "cannot be written: line" in ours[1] and theirs[0] == "text":
            self.met["a control character"] += 1
            self.restore()
        elif command["command"] == "view" and theirs[1].startswith("Here're"):
            sizes = re.sub(r"(?m)^\S+\t(.*/|/memories.*)$", fold_size(self, command["path"]), theirs[1])
            rest = re.sub(r"\n\S+\t[^\n]*/Memories\.md$", "", ours[1])
            self.met["the memory file is listed"] += rest != ours[1]
            check(command, ("text", rest), ("text", sizes))
        else:
            check(command, ours, theirs)

    def is_refused_path(self, command: Command, ours: tuple[str, str]) -> bool:
        paths = [command[key] for key in ("path", "old_path", "new_path") if key in command]
        odd = [path for path in paths if HIDES.search(path) or path.startswith("/memoriesx")]
        return bool(odd) and ours[0] == "ToolError" and ours[1].startswith("Path ")

    def compare_all(self) -> None:
        """Compares the bytes of all files, and what is in each folder."""
        files = [path for path in self.root.rglob("*") if path.is_file()]
        for path in [self.root, *self.root.rglob("*")]:
            shown = "/memories" + str(path)[len(str(self.root)) :]
            self.compare({"command": "view", "path": shown})
            if path.is_file():
                lines = answer(self.ours, {"command": "view", "path": shown})[1].split("\n")[1:]
                check({"content of": shown}, "\n".join(line[7:] for line in lines).encode(), path.read_bytes())
        entries = re.findall(r"^\*\*\[NOTE\].*\*\(.*#file:.*\)\*$", self.text(), re.MULTILINE)
        check({"number of files": ""}, len(entries), len(files))

    def text(self) -> str:
        """The memory file."""
        shown = answer(self.ours, {"command": "view", "path": "/memories/Memories.md"})
        return "\n".join(line[7:] for line in shown[1].split("\n")[1:])

    def save(self) -> None:
        shutil.rmtree(self.saved, ignore_errors=True)
        shutil.copytree(self.root, self.saved)

    def restore(self) -> None:
        shutil.rmtree(self.root)
        shutil.copytree(self.saved, self.root)


def fold_size(player: Player, named: str) -> Callable[[re.Match[str]], str]:
    def fold(line: re.Match[str]) -> str:
        path = line.group(1)
        if path.endswith("/") or path == named:
            player.met["the size of a folder"] += not line.group(0).startswith("4K\t")
            return f"4K\t{path}"
        return line.group(0)

    return fold


def check(command: Command, ours: object, theirs: object) -> None:
    if ours != theirs:
        raise Difference(f"{json.dumps(command, ensure_ascii=False)}\nours:   {ours!r}\ntheirs: {theirs!r}")


def answer(tool: BetaAbstractMemoryTool, command: Command) -> tuple[str, str]:
    """The kind of an answer, and its text."""
    try:
        return "text", str(tool.call(command))
    except ToolError as error:
        return "ToolError", str(error)
    except (OSError, ValueError) as error:
        return "OSError", str(error)


def may_differ(command: Command) -> bool:
    """True for a command that may be refused here and not there."""
    texts = [value for value in command.values() if isinstance(value, str)]
    return any(HIDES.search(text) or FORBIDDEN_IN.search(text) or "/memoriesx" in text for text in texts)


def folders(root: Path) -> set[Path]:
    return {path for path in root.rglob("*") if path.is_dir()}


def path_of(chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.03:
        return chance.choice(ODD_PATHS)
    if kind < 0.05:
        return chance.choice(HIDING_PATHS)
    if kind < 0.10:
        return "/memories"
    depth, names = chance.choice([1, 1, 1, 2, 2, 3]), NAMES[: chance.choice([4, 12])]
    return "/memories/" + "/".join(chance.choice(names) for _ in range(depth))


def text_of(chance: random.Random) -> str:
    if chance.random() < 0.03:
        return chance.choice(FORBIDDEN)
    text = "\n".join(chance.choice(LINES) for _ in range(chance.choice([0, 1, 1, 2, 4, 9])))
    return text + "\n" * chance.choice([0, 1, 1, 2])


def sequence_of(chance: random.Random) -> list[Command]:
    """Commands that are often about what was made before."""
    known: list[str] = []
    texts: list[str] = [""]

    def path() -> str:
        return chance.choice(known) if known and chance.random() < 0.7 else path_of(chance)

    def piece() -> str:
        text = chance.choice(texts)
        if chance.random() < 0.3 or not text:
            return chance.choice(LINES)
        first = chance.randrange(len(text))
        return text[first : first + chance.choice([1, 3, 10, 100])]

    commands: list[Command] = []
    for _ in range(chance.randint(3, 16)):
        command: Command = {"command": chance.choice(COMMANDS)}
        match command["command"]:
            case "view":
                command["path"] = path()
                if chance.random() < 0.4:
                    command["view_range"] = [chance.randint(-3, 12) for _ in range(chance.choice([2, 2, 2, 1, 0]))]
            case "create":
                command |= {"path": path_of(chance) if chance.random() < 0.9 else path(), "file_text": text_of(chance)}
                known.append(command["path"])
                texts.append(command["file_text"])
            case "str_replace":
                command |= {"path": path(), "old_str": piece(), "new_str": text_of(chance)}
                texts.append(command["new_str"])
            case "insert":
                command |= {"path": path(), "insert_line": chance.randint(-1, 8), "insert_text": text_of(chance)}
            case "delete":
                command["path"] = path()
            case _:
                command |= {"old_path": path(), "new_path": path_of(chance)}
                known.append(command["new_path"])
        commands.append(command)
    return commands


def shortened(player: Player, commands: list[Command]) -> tuple[list[Command], Difference]:
    """The commands without those that the difference does not need."""

    def fails(commands: list[Command]) -> Difference | None:
        try:
            player.play(commands)
        except Difference as difference:
            return difference
        return None

    found = fails(commands)
    assert found is not None, "the difference depends on earlier sequences"
    at = 0
    while at < len(commands):
        shorter = commands[:at] + commands[at + 1 :]
        again = fails(shorter)
        if again is None:
            at += 1
        else:
            commands, found = shorter, again
    return commands, found


@pytest.fixture
def tool(memories: Memories) -> Iterator[MemoryTool]:
    made = MemoryTool(memories)
    yield made
    made.close()


def test_random_commands_are_answered_as_by_the_file_system(
    memories: Memories, tool: MemoryTool, tmp_path: Path
) -> None:
    player = Player(tool, tmp_path / "oracle")
    for seed in range(SEQUENCES):
        commands = sequence_of(random.Random(seed))
        try:
            player.play(commands)
        except Difference as first:
            try:
                commands, difference = shortened(player, commands)
            except AssertionError:
                difference = first
            lines = "\n".join(json.dumps(command, ensure_ascii=False) for command in commands)
            pytest.fail(f"seed {seed}:\n{lines}\n{difference}\n{player.text()}", pytrace=False)
        if seed % 50 == 0:
            assert memories.run("check")["problems"] == []
        if seed % 1000 == 999:
            print(f"{seed + 1} sequences, {player.commands} commands", flush=True)
    print(f"{SEQUENCES} sequences, {player.commands} commands; meant differences: {dict(player.met)}")
    assert set(player.met) <= {
        "a refused command left folders",
        "an error of the system",
        "a path that hides where it leads",
        "a path that looks like another",
        "a control character",
        "the size of a folder",
        "the memory file is listed",
    }


def test_what_a_person_edited_is_theirs(memories: Memories, tool: MemoryTool, tmp_path: Path) -> None:
    tool.call({"command": "create", "path": "/memories/a.md", "file_text": "milk\n"})
    file = tmp_path / "Memories.md"
    file.write_text(file.read_text(encoding="utf-8").replace("milk", "bread"), encoding="utf-8")
    assert "\tbread\n" in str(tool.call({"command": "view", "path": "/memories/a.md"}))
    with pytest.raises(ToolError, match="a person wrote or edited it"):
        tool.call({"command": "delete", "path": "/memories/a.md"})
    # The next write finds whose it is.
    tool.call({"command": "create", "path": "/memories/b.md", "file_text": "salt\n"})
    [found] = [one for one in memories.query("bread") if one.title == "a.md"]
    assert found.author == "person"


def test_what_a_model_can_mend_is_said_to_it(tool: MemoryTool) -> None:
    for command, said in [
        ({"command": "create", "path": "/memories/a"}, "`file_text` is missing"),
        ({"command": "create", "path": "/memories/a", "file_text": "\ud83d"}, "a text is not Unicode"),
        ({"command": "insert", "path": "/memories/a", "insert_line": "x", "insert_text": ""}, '`insert_line` is "x"'),
        ({"command": "view", "path": "/memories/" + "a" * 201}, "Path is too long: 201 bytes"),
        ({"command": "view", "path": "/memories" + "/a" * 3000}, "Path is too long"),
        ({"command": "view", "path": "/memories/\0"}, "has a character that nobody sees"),
        ({"command": "create", "path": "/memories/a", "file_text": "x" * (2**20 + 1)}, "a file may have 1048576"),
    ]:
        with pytest.raises(ToolError) as error:
            tool.call(command)
        assert said in str(error.value), command
    token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    said = str(tool.call({"command": "create", "path": "/memories/keys", "file_text": token}))
    assert said.endswith("the file has `(GitHub token masked)` in its place.")
    with pytest.raises(ToolError, match="did not appear verbatim"):
        tool.call({"command": "str_replace", "path": "/memories/keys", "old_str": token, "new_str": ""})


def test_the_program_begins_again_after_it_broke_off(tmp_path: Path, fake: Callable[[str], str]) -> None:
    view: Command = {"command": "view", "path": "/memories"}
    dies = fake("import sys; sys.stdin.readline(); sys.stderr.write('gone'); sys.exit(70)")
    tool = MemoryTool(Memories(tmp_path / "Memories.md", program=dies))
    for _ in range(2):
        with pytest.raises(MemoriesError, match="broke off .exit code 70.: gone"):
            tool.call(view)
    hangs = fake("import time; time.sleep(60)")
    with pytest.raises(MemoriesError, match="did not answer within 0.2 seconds"):
        MemoryTool(Memories(tmp_path / "Memories.md", program=hangs, timeout=0.2)).call(view)
    babbles = fake("print('no JSON', flush=True); input()")
    with pytest.raises(MemoriesError, match="did not answer with a JSON object"):
        MemoryTool(Memories(tmp_path / "Memories.md", program=babbles)).call(view)


def test_where_memory_is_off_the_model_is_told(memories: Memories, tool: MemoryTool, tmp_path: Path) -> None:
    (tmp_path / "memories.toml").write_text("enabled = false\n")
    with pytest.raises(ToolError, match="switched off"):
        tool.call({"command": "view", "path": "/memories"})


def test_a_damaged_file_is_an_error_of_the_program(tool: MemoryTool, tmp_path: Path) -> None:
    (tmp_path / "Memories.md").write_text("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> b\n")
    for _ in range(2):
        with pytest.raises(MemoriesError, match="unresolved git merge conflict") as error:
            tool.call({"command": "create", "path": "/memories/a", "file_text": ""})
        assert error.value.code == 4


def test_the_runner_of_the_sdk(memories: Memories, tool: MemoryTool, monkeypatch: pytest.MonkeyPatch) -> None:
    from anthropic import Anthropic

    play: list[stub.Calls] = [
        [("memory", {"command": "view", "path": "/memories"})],
        [("memory", {"command": "create", "path": "/memories/a.md", "file_text": "# A\n"})],
        [("memory", {"command": "create", "path": "/memories/a.md", "file_text": "# B\n"})],
    ]
    seen: list[stub.Body] = []
    with stub.served("/v1/messages", stub.anthropic(play, seen)) as url:
        client = Anthropic(base_url=url, api_key="test", max_retries=0)
        runner = client.beta.messages.tool_runner(
            model="test",
            max_tokens=99,
            messages=[{"role": "user", "content": "Play."}],
            tools=[tool],
            thread=False,  # The server of the test keeps no messages.
        )
        runner.until_done()
    assert seen[0]["tools"] == [stub.MEMORY_TOOL]
    results = [message["content"][0] for message in seen[-1]["messages"] if message["role"] == "user"][1:]
    texts = json.dumps(results)
    assert "File created successfully at: /memories/a.md" in texts and "already exists" in texts
    assert [result.get("is_error", False) for result in results] == [False, False, True]
