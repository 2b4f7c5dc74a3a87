"""A small part of PlaceBench: the house in plain Python, without a memory and with `recall`, by fixed seeds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

BENCH = ROOT / "benches" / "play" / "placebench.py"


def bench(folder: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: os.environ[name] for name in ("HOME", "PATH", "SYSTEMROOT") if name in os.environ}
    command = [sys.executable, "-B", str(BENCH), "--program", program, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def episodes(program: str, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("placebench")
    files = ("--json", "figures.json", "--chart", "figures.svg")
    done = bench(folder, program, "--worlds=house", "--memories=none,recall", "--seeds=2", "--turns=80", *files)
    assert done.returncode == 0, done.stderr
    assert "| `recall` |" in done.stdout and "<title" in (folder / "figures.svg").read_text(encoding="utf-8")
    played: list[dict[str, Any]] = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    return played


def played(episodes: list[dict[str, Any]], memory: str, kind: str = "cold") -> list[dict[str, Any]]:
    return [one for one in episodes if one["memory"] == memory and one["kind"] == kind]


def test_fewer_failed_actions_are_repeated(episodes: list[dict[str, Any]]) -> None:
    without, with_recall = (
        sum(one["repeats"] for one in last) / sum(one["turns"] for one in last)
        for last in ([one for one in played(episodes, name) if one["episode"] == 5] for name in ("none", "recall"))
    )
    assert without > 0.1 and with_recall < without / 2, (without, with_recall)


def test_what_was_gained_is_gained_again_in_fewer_turns(episodes: list[dict[str, Any]]) -> None:
    for seed in (1, 2):
        *earlier, last = [one for one in played(episodes, "recall") if one["seed"] == seed]
        best = max(one["score"] for one in earlier)
        assert 0 < best <= last["score"]
        assert last["first"] < next(one["first"] for one in earlier if one["first"])


def test_an_inherited_memory_scores_and_forbids_no_winning_step(episodes: list[dict[str, Any]]) -> None:
    without, with_recall = (played(episodes, name, "inherited") for name in ("none", "recall"))
    assert sum(one["score"] for one in with_recall) > 2 * sum(one["score"] for one in without)
    assert sum(one["forbidden"] for one in with_recall) == 0 and all(one["solution"] > 20 for one in with_recall)


def test_an_unknown_world_is_named(program: str, tmp_path: Path) -> None:
    done = bench(tmp_path, program, "--worlds=moon", "--list")
    assert done.returncode == 1 and "no world `moon`; there are house" in done.stderr
