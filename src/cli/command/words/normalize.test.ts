import { describe, expect, test } from "vitest";
import type { CommandSpec } from "../spec.ts";
import { resolveCommand } from "./normalize.ts";

const leaf = (name: string, aliases: readonly string[] = []): CommandSpec => ({
  name,
  aliases,
  summary: name,
  load: async () => async () => undefined,
});
const group = (name: string, children: readonly CommandSpec[], aliases: readonly string[] = []): CommandSpec => ({
  name,
  aliases,
  summary: name,
  commands: async () => children,
});
const root = group("svc", [
  group("query", [group("bank", [leaf("balances")]), leaf("tx")], ["q"]),
  group("keys", [leaf("show"), leaf("add")]),
]);

async function resolved(line: string) {
  const { path, rest, unknown } = await resolveCommand(root, line.split(" "));
  return [path.map(({ name }) => name).join(" "), rest.join(" "), unknown];
}

describe("words and flags", () => {
  test.each([
    ["query bank balances A --denom x", "svc query bank balances", "A --denom x", undefined],
    ["q tx H", "svc query tx", "H", undefined],
    ["--node N query bank balances A", "svc query bank balances", "--node N A", undefined],
    ["query --node=N bank --trace balances A", "svc query bank balances", "--node=N --trace A", undefined],
    ["keys -a show k", "svc keys show", "-a k", undefined],
    ["keys --keyring-backend file add k", "svc keys add", "--keyring-backend file k", undefined],
    ["keys -o json show k", "svc keys show", "-o json k", undefined],
    ["keys show -- -k", "svc keys show", "-- -k", undefined],
    ["keys", "svc keys", "", undefined],
    ["keys --help", "svc keys", "--help", undefined],
    ["keys shw k", "svc keys", "shw k", "shw"],
    ["--node", "svc", "--node", undefined],
    ["-- keys", "svc", "-- keys", undefined],
  ])("%s", async (line, path, rest, unknown) => {
    expect(await resolved(line)).toEqual([path, rest, unknown]);
  });
});
