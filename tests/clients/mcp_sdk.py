"""The server driven by the official Python SDK, in the current protocol version and the one before it.

Usage: mcp_sdk.py PROGRAM. Every tool, resource and prompt, on stdio and over HTTP, each answer held against its
schema by the SDK and here again; then three seeded agents, each with a server of its own, who find themselves by asking
and recall what another one said.
"""

import asyncio
import contextlib
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile

import httpx2
from jsonschema import Draft202012Validator
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

import calls


def server(program, folder, *arguments):
    return StdioServerParameters(command=program, args=["mcp", *arguments], cwd=str(folder), env={})


@contextlib.asynccontextmanager
async def served(program, folder, *arguments):
    """A server over HTTP, as a transport of the SDK with the token that it demands."""
    token = secrets.token_hex(32)
    command = [program, "mcp", "--http", "127.0.0.1:0", *arguments]
    environment = {"MEMORIES_MCP_TOKEN": f"alex={token}"}
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        url = process.stdout.readline().removeprefix("listening on ").strip()
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http:
            yield streamable_http_client(url, http_client=http)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0, "the server does not end well"
    finally:
        process.kill()
        process.wait()


@contextlib.asynccontextmanager
async def on_stdio(program, folder, *arguments):
    yield server(program, folder, *arguments)


async def every_request(program, mode, way):
    folder = calls.world()
    count = 0
    try:
        async with way(program, folder, "--agent", "alex") as target, Client(target, mode=mode) as client:
            version = client.protocol_version
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            for tool in tools.values():
                Draft202012Validator.check_schema(tool.input_schema)
                assert tool.annotations.read_only_hint is not None, tool.name
            assert set(tools) == {tool for tool, *_ in calls.GOOD}, "a tool that nobody calls"
            for tool, arguments, expected in calls.GOOD:
                Draft202012Validator(tools[tool].input_schema).validate(arguments)
                result = await client.call_tool(tool, arguments)
                text = result.content[0].text
                assert not result.is_error, f"{tool}: {text}"
                calls.check_answer(
                    tool, arguments, expected, text, result.structured_content, tools[tool].output_schema
                )
                count += 1
            for tool, arguments, expected in calls.BAD:
                result = await client.call_tool(tool, arguments)
                assert result.is_error, f"{tool} {arguments} was not refused"
                calls.check_refusal(tool, arguments, expected, result.content[0].text)
                count += 1
            result = await client.call_tool("query_memorys", {})
            assert result.is_error and "did you mean" in result.content[0].text
            resources = (await client.list_resources()).resources
            templates = (await client.list_resource_templates()).resource_templates
            assert len(resources) == 4 and len(templates) == 5
            for resource in resources:
                contents = (await client.read_resource(str(resource.uri))).contents
                assert contents[0].text.startswith("## "), contents
                count += 1
            prompts = (await client.list_prompts()).prompts
            assert {prompt.name for prompt in prompts} == {name for name, *_ in calls.PROMPTS}
            for name, arguments, expected in calls.PROMPTS:
                result = await client.get_prompt(name, arguments)
                assert expected in result.messages[0].content.text, name
                count += 1
        calls.check_file(program, folder)
    finally:
        shutil.rmtree(folder)
    print(f"{version} {way.__name__}: {len(tools)} tools, {len(resources)} resources, {len(prompts)} prompts, {count} requests")


async def turn(client, name, number, says):
    """An agent asks who and where it is, then speaks; its line goes into the dialogue."""
    self_ = (await client.call_tool("query_self", {})).content[0].text
    assert name in self_, f"{name} did not find itself: {self_}"
    scene = (await client.call_tool("query_scene", {})).content[0].text
    assert "Alex's flat" in scene and "Friday evening" in scene, scene
    line = {"content": f"{name} said: {says}", "type": "dialogue", "scope": "dialogue", "turn": number}
    kept = await client.call_tool("form_memory", line)
    assert kept.structured_content["outcome"] == "stored", kept


async def three_friends(program):
    folder = tempfile.mkdtemp(prefix="memories-")
    try:
        seeds = [str(calls.ROOT / "examples" / "dinner" / name) for name in ("friends.yaml", "evening.toml")]
        subprocess.run([program, "seed", *seeds], cwd=folder, check=True, capture_output=True)
        clients = [Client(server(program, folder, "--agent", agent)) for agent in ("alex", "jordan", "casey")]
        async with clients[0] as alex, clients[1] as jordan, clients[2] as casey:
            await turn(alex, "Alex", 1, "I would love Italian food, and we should book by Tuesday.")
            await turn(jordan, "Jordan", 2, "I know a cheap place by the harbour with a piano.")
            await turn(casey, "Casey", 3, "I am fine with anything that has no meat in it.")
            asked = {"question": "what did Alex say about food?"}
            found = (await casey.call_tool("query_memories", asked)).structured_content["memories"]
            assert found[0]["turn"] == 1 and "Italian" in found[0]["content"], found
            found = (await jordan.call_tool("recall_interactions", {"character": "Alex"})).structured_content
            assert any("Italian" in memory["content"] for memory in found["memories"]), found
            known = (await jordan.call_tool("query_character", {"name": "Casey"})).content[0].text
            assert "caretaker" in known and "grandmother" not in known, known
            # What others are stays theirs.
            private = (await alex.call_tool("query_memories", {"question": "law school, sold prints"})).content[0].text
            assert "Left law school" not in private, private
        calls.check_file(program, folder)
    finally:
        shutil.rmtree(folder)
    print("three friends: each found itself in its first turn, and turn 3 recalled what was said in turn 1")


async def main(program):
    for way in (on_stdio, served):
        for mode in ("auto", "legacy"):
            await every_request(program, mode, way)
    await three_friends(program)


asyncio.run(main(sys.argv[1]))
