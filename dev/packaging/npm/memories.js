#!/usr/bin/env node
// Runs the program that npm has installed for this platform, with the same arguments, streams and exit code.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { isatty } = require("node:tty");

const holder = `memories-md-${process.platform}-${process.arch}`;
const name = process.platform === "win32" ? "memories.exe" : "memories";

let program;
try {
  program = require.resolve(`${holder}/bin/${name}`);
} catch {
  const known = Object.keys(require("./package.json").optionalDependencies);
  const why = known.includes(holder)
    ? `the package \`${holder}\` is not installed\nhint: install again, without \`--omit=optional\``
    : `there is no program for ${process.platform} on ${process.arch}\nhint: build it from source with cargo`;
  console.error(`error: ${why}`);
  process.exit(4);
}

// A signal to the launcher is one to the program, which ends whole. Ctrl-C at a terminal reaches both by itself, and a
// second one would end the program at once.
const atTerminal = [0, 1, 2].some(isatty);
let child;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => (signal === "SIGINT" && atTerminal) || child?.kill(signal));
}
child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
  console.error(`error: cannot start \`${program}\`: ${error.message}`);
  process.exit(4);
});
child.on("exit", (code, signal) => {
  process.exit(signal ? 128 + constants.signals[signal] : code);
});
