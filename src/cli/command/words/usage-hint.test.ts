import { expect, test } from "vitest";
import type { CommandSpec } from "../spec.ts";
import { usageHint } from "./usage-hint.ts";

const SPEC: CommandSpec = {
  name: "shell",
  summary: "Run a program",
  args: "<service> [command...]",
  load: async () => async () => 0,
};

test.each<[string, Partial<CommandSpec>, string]>([
  ["at the end", {}, "<service> [command...] [flags]"],
  ["before the words of another program", { programAfter: 1 }, "<service> [flags] [command...]"],
  ["before all words that are handed on", { passThrough: true }, "[flags] <service> [command...]"],
])("flags stand %s", (_, change, form) => {
  expect(usageHint("wrong", "svc shell", { ...SPEC, ...change })).toBe(`usage: svc shell ${form}`);
});
