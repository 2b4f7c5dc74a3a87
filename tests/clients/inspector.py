"""The server driven by the MCP Inspector's command line, a process for each request.

Usage: inspector.py INSPECTOR PROGRAM, both as paths. Every tool, resource and prompt, each answer held against
its schema.
"""

import json
import shutil
import subprocess
import sys

import calls


class Inspector:
    def __init__(self, inspector, program, folder):
        self.command = [inspector, "--cli", "--cwd", str(folder)]
        self.server = ["--", program, "mcp", "--agent", "alex"]
        self.requests = 0

    def ask(self, method, *flags):
        self.requests += 1
        command = [*self.command, "--method", method, *flags, *self.server]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.stdout.strip(), f"{method} {flags}: {done.stderr}"
        return json.loads(done.stdout), done.returncode

    def call(self, tool, arguments):
        pairs = [f"{name}={calls.as_text(value)}" for name, value in arguments.items()]
        flags = [part for pair in pairs for part in ("--tool-arg", pair)]
        return self.ask("tools/call", "--tool-name", tool, *flags)[0]


def main(inspector, program):
    folder = calls.world()
    try:
        client = Inspector(inspector, program, folder)
        listed, code = client.ask("tools/list", "--strict")
        assert code == 0, "the Inspector finds fault with the schemas"
        tools = {tool["name"]: tool for tool in listed["tools"]}
        assert set(tools) == {tool for tool, *_ in calls.GOOD}, "a tool that nobody calls"
        for tool, arguments, expected in calls.GOOD:
            result = client.call(tool, arguments)
            text = result["content"][0]["text"]
            assert not result.get("isError"), f"{tool}: {text}"
            schema = tools[tool]["outputSchema"]
            calls.check_answer(tool, arguments, expected, text, result["structuredContent"], schema)
        for tool, arguments, expected in calls.BAD:
            result = client.call(tool, arguments)
            assert result.get("isError"), f"{tool} {arguments} was not refused"
            calls.check_refusal(tool, arguments, expected, result["content"][0]["text"])
        resources = client.ask("resources/list")[0]["resources"]
        assert len(client.ask("resources/templates/list")[0]["resourceTemplates"]) == 5
        for resource in resources:
            read = client.ask("resources/read", "--uri", resource["uri"])[0]
            assert read["contents"][0]["text"].startswith("## "), read
        prompts = client.ask("prompts/list")[0]["prompts"]
        assert {prompt["name"] for prompt in prompts} == {name for name, *_ in calls.PROMPTS}
        for name, arguments, expected in calls.PROMPTS:
            flags = [part for key, value in arguments.items() for part in ("--prompt-args", f"{key}={value}")]
            prompt = client.ask("prompts/get", "--prompt-name", name, *flags)[0]
            assert expected in prompt["messages"][0]["content"]["text"], name
        calls.check_file(program, folder)
    finally:
        shutil.rmtree(folder)
    counts = f"{len(tools)} tools, {len(resources)} resources, {len(prompts)} prompts"
    print(f"inspector: {counts}, {client.requests} requests")


main(*sys.argv[1:])
