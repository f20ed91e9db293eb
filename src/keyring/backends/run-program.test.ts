import { expect, test } from "vitest";
import { runProgram } from "./run-program.ts";

test("a program ends at its limit also where another one that it started holds its output open", async () => {
  const script = "(sleep 3; echo late) & echo early; wait";
  const { timedOut, stdout } = await runProgram("sh", ["-c", script], { env: process.env, timeoutMs: 1_000 });
  expect({ timedOut, output: Buffer.from(stdout).toString() }).toEqual({ timedOut: true, output: "early\n" });
});
