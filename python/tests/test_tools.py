"""The tools of a model, with the SDKs of OpenAI and Anthropic themselves against servers of the test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import stub

from memories import Memories, MemoriesError
from memories.tools import Tools

REASON = "needs requirements-adapters.txt"
PLAY: list[stub.Calls] = [
    [("recall", {"location": "Attic"}), ("tried", {"location": "5", "action": "take rug"})],
    [
        (
            "record",
            {
                "location": "Attic",
                "action": "take lamp",
                "response": "Taken.",
                "location_after": None,
                "score_after": 5,
                "inventory_after": ["lamp"],
                "world_changed": True,
                "died": None,
            },
        )
    ],
    [
        (
            "remember",
            {
                "content": "The lamp is the key to the cellar.",
                "scope": "Attic",
                "title": "Lamp",
                "type": "FACT",
                "importance": 1000,
            },
        ),
        ("search", {"question": "what opens the cellar?"}),
        ("path", {"to": "Cellar", "from": None}),
    ],
]


def test_openai(memories: Memories) -> None:
    pytest.importorskip("openai", reason=REASON)
    from openai import OpenAI
    from openai.types.chat import ChatCompletionMessageParam

    tools, seen = Tools(memories), list[stub.Body]()
    with stub.served("/v1/chat/completions", stub.openai(PLAY, seen)) as url:
        client = OpenAI(base_url=f"{url}/v1", api_key="test", max_retries=0)
        messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Play."}]
        while True:
            reply = client.chat.completions.create(model="test", messages=messages, tools=tools.openai())
            message = reply.choices[0].message
            if not message.tool_calls:
                break
            messages.append(message.to_dict())  # type: ignore[arg-type]
            for call in message.tool_calls:
                assert call.type == "function"
                answer = tools.call(call.function.name, call.function.arguments)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": answer})
    assert message.content == "Done." and len(seen) == 4
    check_play(memories, seen[-1]["messages"])


def test_openai_responses(memories: Memories) -> None:
    pytest.importorskip("openai", reason=REASON)
    from openai.types.responses import FunctionToolParam
    from pydantic import TypeAdapter

    for tool in Tools(memories).openai_responses():
        assert TypeAdapter(FunctionToolParam).validate_python(tool) == tool
        stub.check_strict(tool)


def test_anthropic(memories: Memories) -> None:
    pytest.importorskip("anthropic", reason=REASON)
    from anthropic import Anthropic
    from anthropic.types import MessageParam, ToolResultBlockParam

    tools, seen = Tools(memories), list[stub.Body]()
    with stub.served("/v1/messages", stub.anthropic(PLAY, seen)) as url:
        client = Anthropic(base_url=url, api_key="test", max_retries=0)
        messages: list[MessageParam] = [{"role": "user", "content": "Play."}]
        while True:
            message = client.messages.create(model="test", max_tokens=99, messages=messages, tools=tools.anthropic())
            if message.stop_reason != "tool_use":
                break
            results: list[ToolResultBlockParam] = []
            for block in message.content:
                if block.type == "tool_use":
                    answer = tools.call(block.name, block.input)
                    result: ToolResultBlockParam = {"type": "tool_result", "tool_use_id": block.id, "content": answer}
                    results.append({**result, "is_error": answer.is_error})
            messages.append({"role": "assistant", "content": message.content})
            messages.append({"role": "user", "content": results})
    assert len(seen) == 4 and message.content[0].type == "text" and message.content[0].text == "Done."
    check_play(memories, seen[-1]["messages"])


def test_the_runner_of_anthropic(memories: Memories) -> None:
    pytest.importorskip("anthropic", reason=REASON)
    from anthropic import Anthropic

    seen = list[stub.Body]()
    with stub.served("/v1/messages", stub.anthropic(PLAY, seen)) as url:
        client = Anthropic(base_url=url, api_key="test", max_retries=0)
        runner = client.beta.messages.tool_runner(
            model="test",
            max_tokens=99,
            messages=[{"role": "user", "content": "Play."}],
            tools=Tools(memories).anthropic_runner(),
            thread=False,  # The server of the test keeps no messages.
        )
        message = runner.until_done()
    assert len(seen) == 4 and message.content[0].type == "text" and message.content[0].text == "Done."
    check_play(memories, seen[-1]["messages"])


def check_play(memories: Memories, messages: list[stub.Body]) -> None:
    """What the model was told in `PLAY`, and what the file holds then."""
    results = [block for block in stub.blocks_of(*messages) if block["type"] == "tool_result"]
    told = [one["content"] for one in results or messages if results or one["role"] == "tool"]
    failed = [result.get("is_error", False) for result in results]
    assert failed in ([], [False, False, False, False, False, True])
    recalled, tried, recorded, remembered, found, path = told
    assert recalled.startswith("First visit") and "no place has this name" in recalled
    assert tried.startswith("may be tried: ")
    assert recorded == "declined at Attic (location:1) (triggers: first_visit, world_changed)"
    assert remembered.startswith('stored "Lamp" in location:1') and "lowered to 700" in remembered
    assert "The lamp is the key to the cellar." in found
    assert path.startswith("no place is called `Cellar`")
    (lamp,) = [memory for memory in memories.recall("Attic").memories if memory.title == "Lamp"]
    assert (lamp.importance, lamp.author, lamp.category) == (700, "agent", "FACT")
    assert memories.run("show", "Attic")["worked"][0]["action"] == "take lamp"


def test_what_the_model_can_mend_is_an_answer(memories: Memories) -> None:
    tools = Tools(memories)
    wrong: list[tuple[Any, Any, str]] = [
        (None, {}, "there is no tool `None`\nhint: there are `recall`, `tried`"),
        (["recall"], None, "there is no tool `['recall']`"),
        ("forget", "{}", "there is no tool `forget`\nhint: there are `recall`, `tried`"),
        ("recall", "{", "the arguments are not a JSON object: "),
        ("recall", "[1]", "the arguments are not a JSON object: "),
        ("recall", "[" * 100_000, "the arguments are not a JSON object: "),
        ("recall", "", "`location` is "),
        ("recall", {"location": None}, "`location` is "),
        ("recall", {"location": ["5"]}, "`location` is "),
        ("recall", '{"location": "\\ud800"}', "the message is not JSON: "),
        ("recall", '{"location": NaN}', "the message is not JSON: "),
        ("recall", '{"location": %s}' % ("[" * 200 + "]" * 200), "the message is not JSON: "),
        ("record", {"location": 5, "action": "x"}, "`response` is missing"),
        ("remember", {"content": "A lamp.", "scope": "nobody:5"}, "no place is called `nobody:5`\nhint: "),
        ("remember", {"content": "A lamp.", "importance": "very"}, "`importance` is "),
    ]
    for name, arguments, text in wrong:
        answer = tools.call(name, arguments)
        assert answer.is_error and answer.startswith(text), (name, arguments, answer)
    assert not tools.call("search", '{"question": "lamp"}').is_error


@pytest.mark.parametrize(
    ("name", "argument"),
    [("recall", "file"), ("search", "answer"), ("record", "episode"), ("record", "new_place"), ("remember", "turn")],
)
def test_the_model_gives_no_other_arguments(memories: Memories, name: str, argument: str) -> None:
    answer = Tools(memories).call(name, {argument: True})
    assert answer.is_error and answer.startswith(f"there is no argument `{argument}`\nhint: there are `")
    assert memories.run("list")["sections"] == []


def test_a_model_is_not_trusted(memories: Memories, tmp_path: Path) -> None:
    tools = Tools(memories)
    memories.add(5, "The rug hides a trap door.", title="Rug", importance=900)
    answer = tools.call(
        "remember", {"content": "The rug hides nothing.", "scope": "5", "title": "Rug", "importance": 7}
    )
    assert answer.is_error and "called `Rug`" in answer
    tools.call("remember", {"content": "It is password=hunter2hunter3xx9Qz", "scope": "5", "type": "core"})
    rug, word = memories.recall(5).memories
    assert (rug.text, rug.importance, rug.author) == ("The rug hides a trap door.", 900, "person")
    assert (word.persistence, word.author) == ("permanent", "agent") and "hunter2" not in word.text
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".md"] == ["Memories.md"]


def test_an_agent_sees_its_own(memories: Memories) -> None:
    memories.add("agent:sam", "Sam hides the gold under the oak.", name="Sam")
    tools = Tools(memories, agent="alex")
    tools.call("remember", {"content": "I fear the dark."})
    assert [memory.text for memory in memories.recall("agent:alex").memories] == ["I fear the dark."]
    assert "dark" in tools.call("search", {"question": "what frightens me in the dark?"})
    assert "oak" not in tools.call("search", {"question": "where is the gold?"})
    assert "oak" in Tools(memories).call("search", {"question": "where is the gold?"})


def test_what_may_be_left_out_may_be_null(memories: Memories) -> None:
    schemas = {tool["name"]: tool["input_schema"]["properties"] for tool in Tools(memories).anthropic()}
    nullable = {name: {key for key, one in schema.items() if "null" in one["type"]} for name, schema in schemas.items()}
    assert nullable == {
        "recall": set(),
        "tried": set(),
        "record": {"location_after", "score_after", "inventory_after", "world_changed", "died", "won"},
        "remember": {"scope", "title", "type", "importance"},
        "search": set(),
        "path": {"from"},
    }
    assert schemas["record"]["inventory_after"]["type"] == ["array", "null"]


def test_names_may_have_a_prefix(memories: Memories) -> None:
    tools = Tools(memories, prefix="memory_")
    functions = [tool["function"] for tool in tools.openai()]
    assert [function["name"] for function in functions] == [
        "memory_recall",
        "memory_tried",
        "memory_record",
        "memory_remember",
        "memory_search",
        "memory_path",
    ]
    assert "`memory_record` instead" in functions[3]["description"]
    assert tools.call("memory_recall", {"location": "5"}) == "First visit - no prior experiences"


def test_a_program_that_fails_is_an_error(program: str, tmp_path: Path) -> None:
    with pytest.raises(MemoriesError):
        Tools(Memories(tmp_path / "M.md", program=tmp_path / "nothing")).call("recall", {"location": "5"})
    with pytest.raises(MemoriesError, match="alex smith"):
        Tools(Memories(tmp_path / "M.md", program=program), agent="alex smith").openai()


@pytest.mark.parametrize("agent", ["--help x", "", "alex smith", "é"])
def test_an_agent_that_is_no_id_is_no_fault_of_the_model(memories: Memories, agent: str) -> None:
    with pytest.raises(MemoriesError, match="is not an id"):
        Tools(memories, agent=agent).call("recall", {"location": "5"})


def test_wrong_settings_are_no_fault_of_the_model(memories: Memories, tmp_path: Path) -> None:
    (tmp_path / "memories.toml").write_text("enabled = 5\n")
    with pytest.raises(MemoriesError, match="memories.toml"):
        Tools(memories).call("recall", {"location": "5"})


def test_there_are_no_tools_where_memory_is_off(memories: Memories, tmp_path: Path) -> None:
    (tmp_path / "memories.toml").write_text("enabled = false\n")
    tools = Tools(memories)
    assert tools.openai() == tools.anthropic() == []
    assert tools.call("recall", {"location": "5"}).is_error


def test_the_tools_take_few_tokens(memories: Memories) -> None:
    assert len(json.dumps(Tools(memories).openai())) < 5000
