"""The example plays, and its memory is what README promises: twelve lines."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, TURNS

import memories
from memories import Memories

AGENT = ROOT / "examples" / "agent.py"


def play(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": str(folder), "PYTHONPATH": str(Path(memories.__file__).parents[1])}
    command = [sys.executable, "-X", "dev", str(AGENT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)


def test_the_memory_takes_at_most_twelve_lines() -> None:
    text = AGENT.read_text(encoding="utf-8")
    _, _, rest = text.partition("\n# The memory.\n")
    memory, _, game = rest.partition("\n# The game and the agent.\n")
    lines = [line for line in memory.splitlines() if line.strip()]
    assert len(lines) <= 12, lines
    assert "memories" not in game.lower().replace("memories.md", "")
    assert "subprocess" not in text


def test_it_is_warned_of_what_was_in_vain_in_the_episode_before(program: str, tmp_path: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("the program is put on the path by a link")
    (tmp_path / "memories").symlink_to(program)
    first = play(tmp_path, str(TURNS / "zork1_ep1.jsonl"), "3")
    assert (first.stderr, first.stdout) == ("", "> open mailbox: stored\n> down: tried\n> take leaflet: declined\n")
    again = play(tmp_path, str(TURNS / "zork1_ep1.jsonl"), "3")
    assert again.stdout.splitlines()[1:3] == ["  down was tried 1× in vain: You can't go that way.", "> down: tried"]
    recalled = Memories(tmp_path / "Memories.md", program=program).recall(64)
    assert recalled.scopes[0].episodes == (1, 2)
    assert "Tried here in vain: down ×2" in str(recalled)


def test_an_error_is_said_with_its_hint(program: str, tmp_path: Path) -> None:
    missing = play(tmp_path, str(TURNS / "zork1_ep1.jsonl"))
    assert (missing.returncode, missing.stdout) == (1, "")
    assert missing.stderr.startswith("error: the program `memories` is not installed\nhint: ")
