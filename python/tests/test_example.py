"""The loops that people copy play real games, and the second episode does nothing again that was in vain."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import memories
from memories import Memories

LOOPS = {
    "loop.sh": ["sh", str(ROOT / "examples" / "loop.sh")],
    "loop.py": [sys.executable, "-X", "dev", str(ROOT / "examples" / "loop.py")],
}
EXPLORER = shlex.join(["sh", str(ROOT / "examples" / "explorer.sh")])
GAME = ["sh", str(ROOT / "examples" / "game.sh")]

#: Does what is on its list and was not in vain, each once in an episode.
LISTED = """
known=$(cat)
while read -r action; do
    case "$known" in *'in vain: '*"$action"* | *'Blocked before: '*"$action"*) continue ;; esac
    grep -qx "$action" done || { echo "$action" | tee -a done; exit; }
done < list
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the loops start shell scripts")


def play(loop: str, folder: Path, agent: str, *game: str) -> subprocess.CompletedProcess[str]:
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    environment = {
        **os.environ, "PATH": f"{folder / 'bin'}:/usr/bin:/bin", "TMPDIR": str(temporary),
        "PYTHONPATH": str(Path(memories.__file__).parents[1]),
    }
    command = [*LOOPS[loop], agent, *game]
    played = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)
    assert not list(temporary.iterdir()), "no file is left behind"
    return played


def actions(output: str) -> list[str]:
    """The lines `> ACTION`, behind which the loop in Python has the outcome."""
    return [line[2:].partition(":")[0] for line in output.splitlines() if line.startswith("> ")]


@pytest.fixture
def folder(program: str, tmp_path: Path) -> Path:
    folder = tmp_path / "play"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "memories").symlink_to(program)
    return folder


def test_the_memory_takes_at_most_twelve_lines() -> None:
    text = (ROOT / "examples" / "loop.py").read_text(encoding="utf-8")
    _, _, rest = text.partition("\n# The memory.\n")
    memory, _, game = rest.partition("\n# The game and the agent.\n")
    lines = [line for line in memory.splitlines() if line.strip()]
    assert len(lines) <= 12, lines
    assert "memories" not in game.lower().replace("memories.md", "")


@pytest.mark.parametrize("loop", LOOPS)
def test_the_second_episode_does_nothing_again_that_was_in_vain(loop: str, program: str, folder: Path) -> None:
    first, second = (play(loop, folder, EXPLORER, *GAME) for _ in range(2))
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert actions(first.stdout) == ["pull rope", "north", "pull rope", "north", "open chest", "dig"]
    assert actions(second.stdout) == ["north", "dig"]
    assert {path.name for path in folder.iterdir()} == {"bin", "temporary", "Memories.md", ".memories"}
    (cellar,) = Memories(folder / "Memories.md", program=program).recall(2).scopes
    assert cellar.episodes == (1, 2) and "dig" in {attempt.action for attempt in cellar.worked}


@pytest.mark.parametrize("loop", LOOPS)
def test_a_game_of_textworld_is_played(loop: str, program: str, folder: Path) -> None:
    textworld: Any = pytest.importorskip("textworld", reason="TextWorld is not installed")
    options = textworld.GameOptions()
    options.path = str(folder / "game.z8")
    options.nb_rooms, options.nb_objects, options.quest_length, options.seeds = 3, 5, 3, 7
    file, made = textworld.make(options)
    walkthrough = list(made.metadata["walkthrough"])
    (folder / "list").write_text("\n".join(["eat ceiling", *walkthrough, ""]), encoding="utf-8")
    (folder / "agent.sh").write_text(LISTED, encoding="utf-8")
    for expected in (["eat ceiling", *walkthrough], walkthrough):
        (folder / "done").write_text("", encoding="utf-8")
        played = play(loop, folder, "sh agent.sh", sys.executable, str(ROOT / "examples" / "textworld_game.py"), file)
        assert actions(played.stdout) == expected, played.stderr
    with Memories(folder / "Memories.md", program=program) as memory:
        (start,) = memory.recall(1).scopes
    assert start.episodes == (1, 2) and "eat ceiling" in {attempt.action for attempt in start.tried}
    assert set(walkthrough) <= {attempt.action for attempt in start.worked}


@pytest.mark.parametrize("loop", LOOPS)
def test_without_the_program_it_says_so(loop: str, folder: Path) -> None:
    (folder / "bin" / "memories").unlink()
    missing = play(loop, folder, EXPLORER, *GAME)
    assert missing.returncode != 0 and missing.stdout == ""
    said = {"loop.sh": "memories: not found", "loop.py": "error: the program `memories` is not installed\nhint: "}
    assert said[loop] in missing.stderr.replace("memories: command not found", "memories: not found")
