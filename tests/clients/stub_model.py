"""A model on loopback that answers from a script, and keeps each request.

It speaks Messages (Anthropic), Responses and Chat Completions (OpenAI), and generateContent (Google).
A script is a list of steps, one for each request of the conversation: a text, or calls of tools. Requests beside the
conversation (titles, token counts) have no tools; they get a short text and take no step.
"""

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

USAGE = {"input_tokens": 100, "output_tokens": 10}


@dataclass
class Call:
    """A call of a tool that the model asks for."""

    tool: str
    arguments: dict
    namespace: str = ""


@dataclass
class Model:
    """The server. `requests` are the bodies of the conversation, `others` those beside it."""

    requests: list = field(default_factory=list)
    others: list = field(default_factory=list)
    trouble: list = field(default_factory=list)

    def __post_init__(self):
        self.lock = threading.Lock()
        self.steps = []
        # Ids of answers and calls are never used again, in no later script either.
        self.number = 0
        model = self

        class Handler(Answers):
            pass

        Handler.model = model
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def play(self, steps):
        """Begins another script; the requests of the last one are forgotten."""
        with self.lock:
            self.steps, self.requests, self.others = list(steps), [], []

    def next_step(self, body, has_tools):
        with self.lock:
            if not has_tools:
                self.others.append(body)
                return "ok"
            self.requests.append(body)
            self.number += 1
            number = len(self.requests) - 1
            if number >= len(self.steps):
                return "The script is over."
            return self.steps[number]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model = None

    def log_message(self, *_):
        pass

    def answer(self, value, status=200):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, events):
        text = "".join(
            (f"event: {event}\n" if event else "") + f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n"
            for event, data in events
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        if "/models" in self.path:
            known = {"id": "stub", "object": "model", "created": 1, "owned_by": "x"}
            return self.answer({"object": "list", "data": [known]})
        self.model.trouble.append(f"GET {self.path}")
        self.answer({"error": {"type": "not_found_error", "message": self.path}}, 404)

    def body(self):
        length = self.headers.get("Content-Length")
        if length is not None:
            data = self.rfile.read(int(length))
        else:
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        if self.headers.get("Content-Encoding") == "gzip":
            import gzip

            data = gzip.decompress(data)
        return json.loads(data or b"{}")

    def do_POST(self):
        path = self.path.split("?")[0]
        body = self.body()
        if path.endswith("/messages"):
            return messages(self, body)
        if path.endswith("/count_tokens"):
            return self.answer({"input_tokens": 100})
        if path.endswith("/responses"):
            return responses(self, body)
        if path.endswith("/chat/completions"):
            return completions(self, body)
        if "enerateContent" in path:
            return gemini(self, path, body)
        self.model.trouble.append(f"POST {self.path}")
        self.answer({"error": {"type": "not_found_error", "message": path}}, 404)


def calls_of(step):
    return [step] if isinstance(step, Call) else list(step)


def messages(http, body):
    """The Messages API of Anthropic."""
    step = http.model.next_step(body, bool(body.get("tools")))
    number = http.model.number
    content = (
        [{"type": "text", "text": step}]
        if isinstance(step, str)
        else [
            {"type": "tool_use", "id": f"toolu_{number:04}_{index}", "name": call.tool, "input": call.arguments}
            for index, call in enumerate(calls_of(step))
        ]
    )
    reason = "end_turn" if isinstance(step, str) else "tool_use"
    message = {
        "id": f"msg_{number:04}", "type": "message", "role": "assistant", "model": body.get("model"),
        "stop_sequence": None, "usage": USAGE,
    }
    if not body.get("stream"):
        return http.answer({**message, "content": content, "stop_reason": reason})
    events = [{"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}]
    for index, block in enumerate(content):
        if block["type"] == "text":
            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    events.append({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": USAGE})
    events.append({"type": "message_stop"})
    http.stream([(event["type"], event) for event in events])


def responses(http, body):
    """The Responses API of OpenAI."""
    step = http.model.next_step(body, bool(body.get("tools")))
    number = http.model.number
    if isinstance(step, str):
        items = [
            {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed",
             "content": [{"type": "output_text", "text": step, "annotations": []}]}
        ]
    else:
        items = [
            {"type": "function_call", "id": f"fc_{number}_{index}", "call_id": f"call_{number}_{index}",
             "name": call.tool, "arguments": json.dumps(call.arguments), "status": "completed"}
            | ({"namespace": call.namespace} if call.namespace else {})
            for index, call in enumerate(calls_of(step))
        ]
    response = {"id": f"resp_{number}", "object": "response", "created_at": 1, "model": body.get("model")}
    usage = {
        "input_tokens": 100, "output_tokens": 10, "total_tokens": 110,
        "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
    }
    events = [{"type": "response.created", "response": {**response, "status": "in_progress", "output": []}}]
    for index, item in enumerate(items):
        events.append({"type": "response.output_item.added", "output_index": index, "item": item})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    done = {**response, "status": "completed", "output": items, "usage": usage}
    if not body.get("stream"):
        return http.answer(done)
    events.append({"type": "response.completed", "response": done})
    http.stream([(event["type"], event) for event in events])


def completions(http, body):
    """The Chat Completions API of OpenAI."""
    step = http.model.next_step(body, bool(body.get("tools")))
    number = http.model.number
    if isinstance(step, str):
        message, reason = {"role": "assistant", "content": step}, "stop"
    else:
        message, reason = {
            "role": "assistant", "content": None,
            "tool_calls": [
                {"index": index, "id": f"call_{number}_{index}", "type": "function",
                 "function": {"name": call.tool, "arguments": json.dumps(call.arguments)}}
                for index, call in enumerate(calls_of(step))
            ],
        }, "tool_calls"
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    base = {"id": f"chatcmpl-{number}", "created": 1, "model": body.get("model")}
    if not body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
        return http.answer({**base, "object": "chat.completion", "choices": [choice], "usage": usage})
    chunk = {**base, "object": "chat.completion.chunk"}
    http.stream([
        (None, {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}),
        (None, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}),
        (None, {**chunk, "choices": [], "usage": usage}),
        (None, "[DONE]"),
    ])


def gemini(http, path, body):
    """generateContent and streamGenerateContent of Google."""
    step = http.model.next_step(body, bool(body.get("tools")))
    parts = (
        [{"text": step}]
        if isinstance(step, str)
        else [{"functionCall": {"name": call.tool, "args": call.arguments}} for call in calls_of(step)]
    )
    value = {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110},
        "modelVersion": "stub",
    }
    if "streamGenerateContent" in path:
        return http.stream([(None, value)])
    http.answer(value)
