"""The Python blocks of the pages are executed, and print what the `text` block behind them shows.

`MEMORIES_GOLDEN=rewrite pytest python/tests/test_pages.py` writes what they print into the pages.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from memories import _process

#: Read before the tests clear their environment.
REWRITES = os.environ.get("MEMORIES_GOLDEN") == "rewrite"

#: A block of Python, and what it prints.
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(("page", "blocks"), [("docs/guide/python.md", 7), ("python/README.md", 4)])
def test_a_page_shows_what_its_code_prints(
    page: str, blocks: int, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if sys.platform == "win32":
        pytest.skip("the program is put on the path by a link")
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "fixtures").symlink_to(ROOT / "fixtures")
    (tmp_path / "memories").symlink_to(program)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(_process, "folders", list[Path])
    monkeypatch.chdir(folder)
    text = (ROOT / page).read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": page}
    shown: list[str | None] = []
    printed: list[str] = []

    def run(block: re.Match[str]) -> str:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(block["code"], page, "exec"), names)
        shown.append(block["output"])
        printed.append(output.getvalue())
        if block["output"] is None:
            assert not printed[-1], f"no block shows {printed[-1]!r}"
            return block[0]
        return f"```python\n{block['code']}```\n\n```text\n{printed[-1]}```\n"

    rewritten = BLOCK.sub(run, text)
    if REWRITES:
        (ROOT / page).write_text(rewritten, encoding="utf-8")
    else:
        assert rewritten == text
    assert len(shown) >= blocks and any(printed)


@pytest.mark.parametrize("page", ["docs/guide/python.md", "python/README.md"])
def test_a_page_shows_the_memory_of_the_example(page: str) -> None:
    _, _, rest = (ROOT / "examples" / "loop.py").read_text(encoding="utf-8").partition("# The memory.\n")
    memory = rest.partition("\n\n# The game and the agent.")[0]
    assert f"```python\n{memory.rstrip()}\n```\n" in (ROOT / page).read_text(encoding="utf-8")


def test_the_page_of_the_registry_stands_alone() -> None:
    """There the files of the repository are not beside it."""
    text = (ROOT / "python" / "README.md").read_text(encoding="utf-8")
    assert not re.search(r"\]\(|https?://|docs/|examples/", text)
