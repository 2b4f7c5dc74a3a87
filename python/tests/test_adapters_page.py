"""The page about games, tools and LangGraph shows what its code prints, with models that the test answers for."""

from __future__ import annotations

from pathlib import Path

import pytest
import stub
import test_pages

REASON = "needs requirements-adapters.txt"
RECALL: list[stub.Calls] = [[("recall", {"location": "Kitchen"})]]
REMEMBER: list[stub.Calls] = [
    [
        ("remember", {"content": "The stove is hot.", "scope": "Kitchen", "importance": 7}),
        ("recall", {"location": "Livng Room"}),
    ]
]


def test_the_page_shows_what_its_code_prints(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("openai", "anthropic", "langchain_core", "langgraph"):
        pytest.importorskip(package, reason=REASON)
    with (
        stub.served("/v1/chat/completions", stub.openai(RECALL, [])) as openai,
        stub.served("/v1/messages", stub.anthropic(REMEMBER, [])) as anthropic,
    ):
        # The program would ask the same server about recorded turns.
        settings = tmp_path / "home" / ".config" / "memories"
        settings.mkdir(parents=True)
        (settings / "memories.toml").write_text('[llm]\nprovider = "offline"\n')
        monkeypatch.setenv("MEMORIES_NOW", "2026-01-31T10:40:00Z")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{openai}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", anthropic)
        for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
            monkeypatch.setenv(name, "test")
        test_pages.test_a_page_shows_what_its_code_prints(
            "docs/guide/python-adapters.md", 5, program, tmp_path, monkeypatch
        )
