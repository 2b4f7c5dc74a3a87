"""The official `openai` client against `memories proxy`, both on loopback.

    python openai_client.py PATH_TO_MEMORIES

A server stands in for OpenAI. It sends the next piece of a stream only when the client has told it that it has the
last one: a proxy that waited for more than a piece would hang here. Ends with 0 where all is as expected.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import openai

KEY = "sk-client-key-0123456789"
TOKEN = "token-of-the-proxy-0123456789"
REPLY = "They have decided to storm the northern gate on Friday, before the sun is up."
STREAMED = "Marcus chose the eastern road, for the bridge in the south has been burnt down."
PIECES = [word + " " for word in STREAMED.split()]
# Replies of the Responses API, by the turns of a conversation that the server keeps, and streamed.
RESPONSES = {
    None: "The guards of the harbour have decided to close the iron chain every night from now on.",
    "resp_1": "Kira promised the old smith that she brings him the silver hammer from the mine.",
}
RESPONSE_STREAMED = "Marta chose the narrow tunnel, for the great stair of the tower has collapsed."
RESPONSE_PIECES = [word + " " for word in RESPONSE_STREAMED.split()]
LOOK = {"type": "function", "name": "look", "parameters": {"type": "object", "properties": {}}, "strict": False}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look", "arguments": "{}", "status": "completed"}
MEMORIES = """\
# Location Memories

## Location 5: North Gate

### Memories

**[DISCOVERY] Gate unguarded at dawn** *(2026-01-29, importance 800)*
The northern gate is unguarded at dawn.

---
"""

seen = []
connections = []
next_piece = threading.Semaphore(0)


class Upstream(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def setup(self):
        super().setup()
        connections.append(self.connection)

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        seen.append((self.path, self.headers, None))
        self.answer(200, {"object": "list", "data": [{"id": "m", "object": "model", "created": 1, "owned_by": "me"}]})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        seen.append((self.path, self.headers, body))
        if body["model"] == "broken":
            return self.answer(500, {"error": {"message": "out of order", "type": "server_error", "param": None, "code": None}})
        if self.path.endswith("/responses"):
            return self.respond(body)
        if body.get("stream"):
            return self.stream()
        message = {"role": "assistant", "content": REPLY}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        self.answer(200, {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})

    def stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, piece in enumerate(PIECES):
            if number > 0 and not next_piece.acquire(timeout=20):
                return
            choice = {"index": 0, "delta": {"role": "assistant", "content": piece}, "finish_reason": None}
            self.event({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})
        self.event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def respond(self, body):
        if body.get("background"):
            return self.answer(200, response("resp_b", [], status="queued", background=True))
        if body.get("stream"):
            return self.stream_response()
        if body.get("tools"):
            return self.answer(200, response("resp_t", [CALL]))
        previous = body.get("previous_response_id")
        self.answer(200, response("resp_1" if previous is None else "resp_2", [said(RESPONSES[previous])]))

    def stream_response(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, event in enumerate(events_of_response()):
            if number > 0 and not next_piece.acquire(timeout=20):
                return
            self.event(event, event["type"])
        self.wfile.write(b"0\r\n\r\n")

    def event(self, value, kind=None):
        text = value if isinstance(value, str) else json.dumps(value)
        name = f"event: {kind}\n" if kind else ""
        data = f"{name}data: {text}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


def said(text):
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [part]}


def response(name, output, **more):
    return {
        "id": name, "object": "response", "created_at": 1, "status": "completed", "error": None, "model": "m",
        "incomplete_details": None, "instructions": None, "metadata": {}, "output": output, "tools": [],
        "parallel_tool_calls": True, "temperature": 1.0, "tool_choice": "auto", "top_p": 1.0, "usage": None, **more,
    }


def events_of_response():
    """The events of a streamed response, as the API documents them."""
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    item = said("".join(RESPONSE_PIECES))
    part = item["content"][0]
    begun = response("resp_s", [], status="in_progress")
    added = {**item, "status": "in_progress", "content": []}
    events = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": added},
        {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
    ]
    events += [{"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []} for piece in RESPONSE_PIECES]
    events += [
        {"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []},
        {"type": "response.content_part.done", **place, "part": part},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response("resp_s", [item])},
    ]
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def try_responses(client):
    question = "Who guards the northern gate?"
    named = {"extra_headers": {"X-Memories-Conversation": "chat-9"}}
    first = client.responses.create(model="m", input=question, instructions="You are the narrator.", **named)
    assert first.output_text == RESPONSES[None] and first.id == "resp_1", first
    path, headers, body = seen[-1]
    assert path == "/v1/responses" and headers["Authorization"] == f"Bearer {KEY}", (path, headers)
    assert body["instructions"].startswith("You are the narrator.\n\n<memories>\n"), body
    assert "unguarded at dawn" in body["instructions"] and body["input"] == question, body

    # The server keeps the conversation: what is inserted must not stay in it.
    again = client.responses.create(model="m", input=question, previous_response_id=first.id, store=True)
    assert again.output_text == RESPONSES["resp_1"], again
    body = seen[-1][2]
    assert "unguarded at dawn" in body["instructions"] and body["input"] == question, body

    # The client keeps it: what was said before stays the same, byte for byte, and so does what follows.
    before = [
        {"role": "user", "content": "We stand before the town."}, said("What do you do?"),
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": question}]}, CALL,
        {"type": "function_call_output", "call_id": "call_1", "output": "A gate."},
    ]
    events = []
    asked = {"model": "m", "input": before, "store": False, "stream": True}
    for event in client.responses.create(**asked, extra_headers={"X-Memories-Conversation": "chat-10"}):
        events.append(event.to_dict())
        next_piece.release()
    assert events == events_of_response(), events
    body = seen[-1][2]
    block, kept = body["input"][2]["content"]
    assert block["type"] == "input_text" and "unguarded at dawn" in block["text"], block
    body["input"][2]["content"] = [kept]
    assert body == asked, body

    called = client.responses.create(model="m", input=question, tools=[LOOK])
    assert called.output[0].to_dict() == CALL and seen[-1][2]["tools"] == [LOOK], called

    for _ in range(2):
        queued = client.responses.create(model="m", input=question, background=True)
        assert queued.status == "queued", queued
        assert seen[-1][2] == {"model": "m", "input": question, "background": True}, seen[-1]


def ask(client, **more):
    messages = [
        {"role": "system", "content": "You are the narrator."},
        {"role": "user", "content": "Who guards the northern gate?"},
    ]
    return client.chat.completions.create(**{"model": "m", "messages": messages, **more})


def try_all(client, upstream):
    reply = ask(client, extra_headers={"X-Memories-Conversation": "chat-7"})
    assert reply.choices[0].message.content == REPLY, reply
    path, headers, body = seen[-1]
    assert path == "/v1/chat/completions" and headers["Authorization"] == f"Bearer {KEY}", (path, headers)
    assert "X-Memories-Conversation" not in headers and TOKEN not in str(headers), headers
    system = body["messages"][0]["content"]
    assert system.startswith("You are the narrator.\n\n<memories>\n") and "unguarded at dawn" in system, system
    assert body["messages"][1]["content"] == "Who guards the northern gate?", body

    pieces = []
    for chunk in ask(client, stream=True, extra_headers={"X-Memories-Conversation": "chat-8"}):
        pieces.append(chunk.choices[0].delta.content)
        next_piece.release()
    assert pieces == PIECES, pieces

    # A block that the client marks for caching, and all before it, stay as they are.
    mark = {"type": "text", "text": "Who guards the northern gate?", "cache_control": {"type": "ephemeral"}}
    ask(client, messages=[{"role": "system", "content": "Narrate."}, {"role": "user", "content": [mark]}])
    system, user = seen[-1][2]["messages"]
    assert system["content"] == "Narrate." and user["content"][0] == mark, user
    assert "unguarded at dawn" in user["content"][1]["text"], user
    # So do the turns before the user's last one, which servers of this API cache by themselves.
    before = [{"role": "user", "content": "We stand before the town."}, {"role": "assistant", "content": "And now?"}]
    ask(client, messages=[*before, {"role": "user", "content": "Who guards the northern gate?"}])
    body = seen[-1][2]
    assert body["messages"][:2] == before and body["messages"][2]["content"].startswith("<memories>\n"), body
    try_responses(client)

    assert [model.id for model in client.models.list()] == ["m"]
    try:
        ask(client.with_options(default_headers={"X-Memories-Token": "another"}))
        raise AssertionError("a wrong token was taken")
    except openai.AuthenticationError as error:
        assert error.status_code == 401 and "hint: send the token" in str(error), error
    try:
        ask(client, model="broken")
        raise AssertionError("a failure upstream was hidden")
    except openai.InternalServerError as error:
        assert error.status_code == 500 and "out of order" in str(error), error

    upstream.shutdown()
    upstream.server_close()
    # The proxy keeps its connections; these end, too.
    for connection in connections:
        try:
            connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
    try:
        ask(client)
        raise AssertionError("nobody was there and somebody answered")
    except openai.APIStatusError as error:
        assert error.status_code == 502 and "cannot be reached" in str(error), error


def main(program):
    upstream = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    upstream.daemon_threads = True
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "Memories.md").write_text(MEMORIES)
        (folder / "memories.toml").write_text('[llm]\nprovider = "offline"\n[chat]\nmemoryExtractionMode = "every_turn"\n')
        address = f"http://127.0.0.1:{upstream.server_port}/v1"
        flags = ["proxy", "--upstream", address, "--listen", "127.0.0.1:0", "--json", "-v"]
        environment = {
            "HOME": str(folder), "MEMORIES_NOW": "2026-01-31T10:40:00Z", "MEMORIES_PROXY_TOKEN": TOKEN,
        }
        # Another process: it ends by a signal, and says on stderr what it did.
        with open(folder / "said", "w") as said:
            proxy = subprocess.Popen(
                [program, *flags], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=said, text=True
            )
        try:
            listening = json.loads(proxy.stdout.readline())["listening"]
            os.environ.pop("HTTP_PROXY", None)
            client = openai.OpenAI(
                api_key=KEY, base_url=f"{listening}/v1", max_retries=0, timeout=30,
                default_headers={"X-Memories-Token": TOKEN},
            )
            try_all(client, upstream)
            client.close()
            proxy.send_signal(signal.SIGINT)
            assert proxy.wait(timeout=30) == 0, proxy.returncode
        finally:
            proxy.kill()
        # Drawn by the rules of thumb from both, after nobody had waited for it.
        kept = (folder / "Memories.md").read_text()
        replies = [REPLY, STREAMED, *RESPONSES.values(), RESPONSE_STREAMED]
        sources = [f"source:chat:{turn}" for turn in ["chat-7#T1", "chat-8#T1", "chat-9#T1", "chat-9#T2", "chat-10#T"]]
        assert all(said in kept for said in replies + sources), kept
        warnings = [line for line in (folder / "said").read_text().splitlines() if "in the background" in line]
        assert len(warnings) == 1, warnings
        for path in [path for path in folder.rglob("*") if path.is_file()]:
            text = path.read_bytes()
            assert KEY.encode() not in text and TOKEN.encode() not in text, path
    print(f"openai {openai.__version__}: whole, streamed in {len(PIECES)} pieces, as responses, failed and gone, all as expected")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
