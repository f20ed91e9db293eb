import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { guardProcess } from "./process-guard.ts";

class Stream extends EventEmitter {
  text = "";
  write(text: string): void {
    this.text += text;
  }
}

class Process extends EventEmitter {
  readonly stdout = new Stream();
  readonly stderr = new Stream();
  readonly ends: (string | number)[] = [];
  terminals: readonly number[] = [];
  isTerminal(descriptor: number): boolean {
    return this.terminals.includes(descriptor);
  }
  end(signal: string): void {
    this.ends.push(signal);
  }
  exit(code: number): void {
    this.ends.push(code);
  }
}

function guarded(options = { trace: false }): Process {
  const process = new Process();
  guardProcess(process, options);
  return process;
}

const failure = (code: string): Error => Object.assign(new Error(`${code}: write`), { code });

describe("a reader that has gone", () => {
  test("ends a command without a word", () => {
    const process = guarded();
    process.stdout.emit("error", failure("EPIPE"));
    process.stderr.emit("error", failure("EIO"));
    expect(process.ends).toEqual([0]);
    expect(process.stderr.text).toBe("");
  });

  test("ends a command that stops things in order as a service manager would", () => {
    const process = guarded();
    process.on("SIGTERM", () => {});
    process.stderr.emit("error", failure("EPIPE"));
    process.stdout.emit("error", failure("EPIPE"));
    expect(process.ends).toEqual(["SIGTERM"]);
  });
});

describe("a terminal that has gone", () => {
  function atTerminal(): Process {
    const process = new Process();
    process.terminals = [0, 1, 2];
    guardProcess(process, { trace: false });
    return process;
  }

  test("ends the process by the hang-up signal, after everything else", () => {
    const process = atTerminal();
    process.on("SIGHUP", () => {});
    process.terminals = [];
    expect(process.ends).toEqual([]);
    process.emit("exit", 0);
    expect(process.ends).toEqual(["SIGHUP"]);
    expect(process.listenerCount("SIGHUP")).toBe(0);
  });

  test("is neither a terminal that is still there nor one that never was", () => {
    const there = atTerminal();
    there.emit("exit", 0);
    expect(there.ends).toEqual([]);
    const none = guarded();
    none.emit("exit", 0);
    expect(none.ends).toEqual([]);
  });
});

test("output that cannot be written is reported in one sentence", () => {
  const process = guarded();
  process.stdout.emit("error", failure("ENOSPC"));
  expect(process.stderr.text).toBe("Error: cannot write to standard output: no space left on the device\n");
  expect(process.ends).toEqual([1]);
});

test("a log that cannot be written ends nothing", () => {
  const process = guarded();
  process.stderr.emit("error", failure("ENOSPC"));
  expect(process.ends).toEqual([]);
});

describe("an error that escaped", () => {
  test("is one sentence", () => {
    const process = guarded();
    process.emit("uncaughtException", new Error("the client was closed"));
    expect(process.stderr.text).toBe("Error: the client was closed\n");
    expect(process.ends).toEqual([1]);
  });

  test("has a stack when asked", () => {
    const process = guarded({ trace: true });
    process.emit("uncaughtException", new Error("the client was closed"));
    expect(process.stderr.text).toContain("process-guard.test.ts");
  });
});
