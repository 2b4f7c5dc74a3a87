"""What the tests share: the real program, a memory file of their own, and nothing of the caller's environment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memories import Memories

ROOT = Path(__file__).resolve().parents[2]
TURNS = ROOT / "fixtures" / "turns"


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings, keys or models of the caller, and a home folder of the test's own."""
    for name in list(os.environ):
        if name.startswith(("MEMORIES_", "XDG_", "PYTHON")) or name.endswith("_API_KEY") or name == "OLLAMA_HOST":
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "USERPROFILE", "APPDATA"):
        monkeypatch.setenv(name, str(home))


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C raises `KeyboardInterrupt`, also where the tests run in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def program() -> str:
    """The program under test: `MEMORIES_PROGRAM`, else the debug build of the repository."""
    built = ROOT / "target" / "debug" / ("memories.exe" if sys.platform == "win32" else "memories")
    path = PROGRAM or str(built)
    assert os.access(path, os.X_OK), f"{path} is missing: run `cargo build`, or set MEMORIES_PROGRAM"
    return path


# Read before the tests clear their environment.
PROGRAM = os.environ.get("MEMORIES_PROGRAM")


@pytest.fixture
def memories(program: str, tmp_path: Path) -> Iterator[Memories]:
    """A memory without a file, which uses processes."""
    with Memories(tmp_path / "Memories.md", program=program) as made:
        yield made


@pytest.fixture(scope="session")
def played_file(program: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory file with the first recorded episode. Tests copy it."""
    folder = tmp_path_factory.mktemp("played")
    command = [program, "-q", "-f", "Memories.md", "record", "--provider=offline", "--turns"]
    environment = {"HOME": str(folder), "PATH": os.environ["PATH"], "SYSTEMROOT": os.environ.get("SYSTEMROOT", "")}
    turns = str(TURNS / "zork1_ep1.jsonl")
    subprocess.run([*command, turns], check=True, cwd=folder, env=environment, capture_output=True)
    return folder / "Memories.md"


@pytest.fixture
def fake(tmp_path: Path) -> Callable[[str], str]:
    """Makes a program of a few lines of Python, and gives its path."""

    def make(source: str) -> str:
        if sys.platform == "win32":
            pytest.skip("a script is no program here")
        path = tmp_path / "fake-memories"
        path.write_text(f"#!{sys.executable}\n{source}\n", encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    return make
