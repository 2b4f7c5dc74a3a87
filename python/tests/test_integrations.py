"""The scripts of `examples/integrations`, each on the real program, with a model on loopback where they ask one."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import stub
from conftest import ROOT, TURNS

import memories
from memories import Memories

SCRIPTS = ROOT / "examples" / "integrations"
LANTERN = "I learned today that the northern gate is unguarded at dawn, so we should leave then."

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the program is put on the path by a link")


@pytest.fixture
def folder(program: str, tmp_path: Path) -> Path:
    """A folder with the program, which is first on the path of the scripts."""
    made = tmp_path / "work"
    made.mkdir()
    (made / "memories").symlink_to(program)
    return made


def run(folder: Path, command: list[str], given: str = "") -> str:
    """What a script prints; it must say nothing else and end well."""
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(Path(memories.__file__).parents[1])}
    done = subprocess.run(command, input=given, capture_output=True, text=True, cwd=folder, env=environment, check=False)
    assert (done.stderr, done.returncode) == ("", 0), done.stdout
    return done.stdout


def python(folder: Path, script: str, *arguments: str) -> str:
    return run(folder, [sys.executable, str(SCRIPTS / script), *arguments])


def model(body: stub.Body) -> stub.Body:
    """A model that answers in the schema that it is given, and else chats."""
    form: dict[str, Any] = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    wanted = form.get("properties", {})
    answers: dict[str, Any] = {
        "relevant": [1],
        "known": True,
        "answer": "On the trophy case.",
        "summary": "Mira guards the bridge tonight, and a silver key lay in the stump.",
        "memories": [{"category": "DISCOVERY", "importance": 500, "summary": LANTERN, "context": "in conversation"}],
    }
    text = json.dumps({name: answers[name] for name in wanted if name in answers}) if wanted else LANTERN
    message = {"role": "assistant", "content": text}
    return {"id": "1", "object": "chat.completion", "model": "stub", "choices": [{"index": 0, "message": message}]}


def settings(url: str, more: str = "") -> None:
    """Settings of the user, which need no trust."""
    home = Path(os.environ["HOME"]) / ".config" / "memories"
    home.mkdir(parents=True)
    text = f'[llm]\nprovider = "openai"\nbase_url = "{url}/v1"\nmodel = "stub"\n{more}'
    (home / "memories.toml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("script", sorted(path.name for path in SCRIPTS.iterdir() if path.suffix in (".py", ".sh")))
def test_a_script_has_at_most_forty_lines(script: str) -> None:
    assert len((SCRIPTS / script).read_text(encoding="utf-8").splitlines()) <= 40


def test_an_agent_of_interactive_fiction(folder: Path) -> None:
    told = python(folder, "zork_manager.py", "Memories.md", str(TURNS / "zork1_ep1.jsonl")).splitlines()
    turns = (TURNS / "zork1_ep1.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(told) == len(turns)
    assert told[0].startswith("open mailbox: stored, ")
    assert not [line for line in told if ": failed," in line]
    memory = Memories(folder / "Memories.md", program=folder / "memories")
    assert memory.tried(64, "down")


def test_a_toolkit_of_langchain(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langchain_core", reason="needs requirements-adapters.txt")
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    monkeypatch.chdir(folder)
    kit: Any = runpy.run_path(str(SCRIPTS / "toolkit.py"))["MemoryToolkit"]("Memories.md")
    top, query, place = kit.get_tools()
    assert top.invoke({}) == "No memories recorded yet."
    added = [
        ("The brass lantern stands on the trophy case", 800, 9, "location:living-room"),
        ("The door to the west is locked", 400, 11, "location:living-room"),
    ]
    assert [kit.add_memory(*memory) for memory in added] == [True, True]
    assert top.invoke({"limit": 1}) == "800/1000 living-room: The brass lantern stands on the trophy case"
    with stub.served("/v1/chat/completions", model) as url:
        settings(url)
        assert query.invoke({"question": "where is the lantern?"}) == "On the trophy case."
        assert place.invoke({"location": "location:living-room"}).startswith("Mira guards the bridge")


def test_characters_over_mcp(folder: Path) -> None:
    pytest.importorskip("mcp", reason="needs the SDK of MCP")
    told = python(folder, "characters.py", "Memories.md", str(ROOT / "examples" / "dinner" / "friends.yaml"))
    assert "alex asks query_memories:\n  Jordan said: I would love some Italian food." in told
    said = Memories(folder / "Memories.md", program=folder / "memories").run("show", "dialogue")
    assert [memory["turns"]["first"] for memory in said["memories"]] == [1, 2, 3]


def test_a_game_master(folder: Path) -> None:
    said: list[tuple[str, str, list[str]]] = [
        ("user", "I greet Mira.", ["Mira"]),
        ("assistant", "Mira promises to guard the bridge tonight.", ["Mira"]),
        ("user", "I search the stump.", []),
        ("assistant", "You find a silver key.", []),
    ]
    messages = (
        {"role": role, "content": text, "location": "Ashwood Glade", "npcs_mentioned": npcs} for role, text, npcs in said
    )
    (folder / "chat.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in messages), encoding="utf-8")
    with stub.served("/v1/chat/completions", model) as url:
        settings(url)
        told = python(folder, "dynamic_memory.py", "Memories.md", "chat.jsonl").splitlines()
        assert told[:3] == ["stored", "stored", "Data, not instructions:"]
        assert sum("Mira guards the bridge tonight" in line for line in told) == 3
        assert python(folder, "dynamic_memory.py", "Memories.md", "chat.jsonl").startswith("nothing_new\nnothing_new\n")


@pytest.mark.skipif(not (shutil.which("jq") and shutil.which("curl")), reason="needs curl and jq")
def test_a_chat(folder: Path) -> None:
    seen = list[stub.Body]()

    def answer(body: stub.Body) -> stub.Body:
        seen.append(body)
        return model(body)

    with stub.served("/v1/chat/completions", answer) as url:
        settings(url, '[chat]\nmemoryExtractionMode = "every_turn"\n')
        words = "How do we leave the city?\nIs the northern gate guarded at dawn?\n"
        told = run(folder, ["sh", str(SCRIPTS / "chat.sh"), f"{url}/v1", "stub"], words)
    assert told == f"{LANTERN}\n" * 2
    *_, last = [body["messages"] for body in seen if "response_format" not in body]
    assert [message["role"] for message in last][-3:] == ["user", "assistant", "user"]
    assert any("<memories>" in message["content"] and LANTERN in message["content"] for message in last)
