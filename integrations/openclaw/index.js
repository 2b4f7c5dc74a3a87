// `memories` in OpenClaw: hooks around the tools that run commands and write files. Each event goes to the program
// `memories` on the path, in the form of Claude Code's hooks; its answer is added to the result of the tool, before the
// model reads it. Whatever goes wrong here is silent: no program, no memory file, a time limit.

import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";

// Milliseconds. Hooks answer within a few; the limit is for a machine that hangs.
const LIMIT = 5000;
const EDITS = { write: "Write", edit: "Edit" };
const SHELLS = ["exec"];
// The name of the shell that `exec` starts, as Claude Code calls it.
const SHELL = process.platform === "win32" ? "PowerShell" : "Bash";

/** The program on the path, but not in the working folder, where a repository could have one of that name. */
function findProgram() {
  const name = process.platform === "win32" ? "memories.exe" : "memories";
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  return folders.map((folder) => path.join(folder, name)).find((file) => fs.existsSync(file));
}

/** What `memories hook` answers to an event; empty where it has nothing to say, or cannot be asked. */
function askHook(event) {
  return new Promise((resolve) => {
    let text = "";
    const done = () => {
      try {
        resolve(JSON.parse(text).hookSpecificOutput ?? {});
      } catch {
        resolve({});
      }
    };
    const program = findProgram();
    if (!program) return resolve({});
    const child = spawn(program, ["hook", "claude-code"], {
      cwd: event.cwd,
      stdio: ["pipe", "pipe", "ignore"],
      timeout: LIMIT,
      shell: false,
    });
    child.on("error", () => resolve({}));
    child.on("close", done);
    child.stdin.on("error", () => {});
    child.stdout.on("data", (part) => (text += part));
    child.stdin.end(JSON.stringify(event));
  });
}

/** The event in Claude Code's form; nothing where the tool runs elsewhere, or neither a command nor an edit. */
function eventOf(name, event, ctx, folder) {
  const args = event.params ?? event.args ?? {};
  const isShell = SHELLS.includes(event.toolName);
  if ((!isShell && !EDITS[event.toolName]) || !["gateway", "auto"].includes(args.host ?? "auto")) return undefined;
  const cwd = isShell && args.workdir ? path.resolve(folder, args.workdir) : folder;
  const input = isShell
    ? { command: String(args.command ?? ""), ...(args.background ? { run_in_background: true } : {}) }
    : { file_path: path.resolve(folder, String(args.path ?? args.file_path ?? "")) };
  return {
    session_id: ctx.sessionId ?? ctx.sessionKey ?? "openclaw",
    cwd,
    hook_event_name: name,
    tool_name: isShell ? SHELL : EDITS[event.toolName],
    tool_input: input,
    tool_use_id: event.toolCallId ?? "",
  };
}

export default definePluginEntry({
  id: "memories",
  name: "Memories",
  description: "Says that a command failed here before, at the moment when it fails again",
  register(api) {
    // In a sandbox, commands and files are others than those of this machine.
    if ((api.config?.agents?.defaults?.sandbox?.mode ?? "off") !== "off") return;
    // What was said before a tool ran, until its result is there: by the id of the call.
    const before = new Map();
    const begun = new Set();
    const folderOf = (ctx) =>
      ctx?.workspaceDir ?? api.runtime.agent.resolveAgentWorkspaceDir(api.config, ctx?.agentId ?? "main");
    const sessionOf = (ctx) => ctx?.sessionId ?? ctx?.sessionKey ?? "openclaw";
    const tell = (name, ctx, more) =>
      askHook({ session_id: sessionOf(ctx), cwd: folderOf(ctx), hook_event_name: name, ...more });

    api.on("before_prompt_build", async (_event, ctx) => {
      const session = sessionOf(ctx);
      if (begun.has(session)) return undefined;
      begun.add(session);
      const { additionalContext } = await tell("SessionStart", ctx, { source: "startup" });
      return additionalContext ? { prependContext: additionalContext } : undefined;
    });
    api.on("before_compaction", async (_event, ctx) => void (await tell("PreCompact", ctx, { trigger: "auto" })));
    // A turn is an end, too: `openclaw agent` runs one and leaves.
    for (const hook of ["agent_end", "session_end"]) {
      api.on(hook, async (_event, ctx) => void (await tell("SessionEnd", ctx, { reason: "other" })));
    }

    api.on(
      "before_tool_call",
      async (event, ctx) => {
        const asked = eventOf("PreToolUse", event, ctx, folderOf(ctx));
        if (!asked) return undefined;
        const answer = await askHook(asked);
        if (answer.permissionDecision === "deny") {
          return { block: true, blockReason: String(answer.permissionDecisionReason ?? "held back") };
        }
        if (before.size > 1000) before.clear();
        if (answer.additionalContext) before.set(event.toolCallId, answer.additionalContext);
        return undefined;
      },
      { matcher: SHELLS },
    );

    api.registerAgentToolResultMiddleware(
      async (event, ctx) => {
        const asked = eventOf("PostToolUse", event, ctx, event.cwd ?? folderOf(ctx));
        if (!asked) return undefined;
        const notes = [before.get(event.toolCallId)];
        before.delete(event.toolCallId);
        const details = event.result.details ?? {};
        const text = event.result.content.map((part) => part.text ?? "").join("\n");
        if (asked.tool_name === SHELL && details.status !== "completed" && details.status !== "failed") {
          // Still running, or never run: nothing is known of it.
          if (details.status !== "running") return undefined;
          asked.tool_response = { stdout: "", stderr: "", interrupted: false, backgroundTaskId: "openclaw" };
        } else if (event.isError || details.exitCode || details.status === "failed") {
          const limit = /time/.test(details.exitReason ?? "") || details.noOutputTimedOut ? "Command timed out\n" : "";
          asked.hook_event_name = "PostToolUseFailure";
          asked.error = `Exit code ${details.exitCode ?? 1}\n${limit}${details.aggregated ?? text}`;
          asked.is_interrupt =
            details.exitSignal === "SIGINT" || /abort|cancel|interrupt/i.test(details.exitReason ?? "");
        } else {
          asked.tool_response = { stdout: text, stderr: "", interrupted: false };
        }
        notes.push((await askHook(asked)).additionalContext);
        const said = notes.filter(Boolean);
        if (said.length === 0) return undefined;
        const content = [...event.result.content, ...said.map((note) => ({ type: "text", text: note }))];
        return { result: { ...event.result, content } };
      },
      { runtimes: ["openclaw"] },
    );
  },
});
