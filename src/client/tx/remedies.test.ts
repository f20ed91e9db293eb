import { describe, expect, test } from "vitest";
import { allFlags } from "../../cli/command/command-line.ts";
import type { CommandSpec } from "../../cli/command/spec.ts";
import { ROOT } from "../../cli/root.ts";
import { sdkErrors } from "../../util/index.ts";
import { CHAIN_ERRORS } from "../../wire/index.ts";
import { meaningOf, remedyOf } from "./remedies.ts";

/** All remedies: the error and its advice. */
const remedies = [...CHAIN_ERRORS].flatMap(([space, rows]) =>
  Object.values(rows).flatMap(({ code }): [string, string][] => {
    const text = remedyOf(space, code);
    return text === undefined ? [] : [[`${space}/${code}`, text]];
  }),
);

/** The command that words name, with the words after it. */
async function commandOf(words: readonly string[], from: CommandSpec = ROOT): Promise<[CommandSpec, string[]]> {
  const [word = "", ...rest] = words;
  const children = (await from.commands?.()) ?? [];
  const child = children.find(({ name }) => word.split("|").includes(name));
  return child === undefined ? [from, [...words]] : commandOf(rest, child);
}

describe("commands that a remedy names", () => {
  const rows = remedies.filter(([, text]) => text.includes("svc "));

  test.each(rows)("%s: %s", async (_, text) => {
    const line = /\bsvc (.+)$/.exec(text)?.[1] ?? "";
    const [spec, rest] = await commandOf(line.split(" "));
    expect(spec.load, `${line} runs`).toBeDefined();
    const known = allFlags(spec).map(({ name }) => `--${name}`);
    for (const flag of rest.filter((word) => word.startsWith("--"))) expect(known).toContain(flag);
  });

  test("are many", () => {
    expect(rows.length).toBeGreaterThan(30);
  });
});

test("what somebody at a command line meets has a remedy", () => {
  const have = new Set(remedies.map(([error]) => error));
  const met = {
    sdk: [4, 5, 7, 11, 12, 13, 19, 20, 30, 32],
    audit: [1, 3, 5],
    cert: [1, 3, 4, 6],
    deployment: [3, 4, 5, 14, 15, 16, 17, 18, 20],
    escrow: [2, 3, 4, 5, 7, 8],
    market: [2, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 28, 30, 31, 33],
    provider: [12, 13],
  };
  const missing = Object.entries(met).flatMap(([space, codes]) => codes.map((code) => `${space}/${code}`));
  expect(missing.filter((error) => !have.has(error))).toEqual([]);
});

test("only unknown requests to a missing module get the remedy for it", () => {
  const remedy = (message: string) => remedyOf("sdk", 6, message);
  expect(remedy("unknown query path: unknown request")).toContain(
    "the chain has no such module: is it the right --node?",
  );
  expect(remedy("unrecognized message route: /x.Msg: unknown request")).toContain("the chain has no such module");
  expect(remedy('no handler for "/x.Msg": unknown request')).not.toContain("--node");
  expect(remedy("validator does not exist")).toBeUndefined();
});

test.each([
  [4, "signature verification failed; please verify account number (1) and chain-id (x): unauthorized", "--chain-id"],
  [4, "svc1abc is not allowed to receive funds: unauthorized", "account of a module"],
  [5, "0utoken is smaller than 10utoken: insufficient funds", "svc query bank spendable-balances"],
  [5, "failed: requested amount is more than spend limit: insufficient funds", "svc query authz grants"],
  [5, "7utoken is more than the limit of 3utoken: insufficient funds", "svc query authz grants"],
  [5, "7utoken is more than the spend limit of 3utoken: insufficient funds", "svc query authz grants"],
])("sdk/%i %s has the remedy for it", (code, message, remedy) => {
  expect(remedyOf("sdk", code, message)).toContain(remedy);
});

test("who may not do something is not sent to look at the signature", () => {
  expect(remedyOf("sdk", 4, "cannot send to svc1abc address: unauthorized")).toBeUndefined();
  expect(remedyOf("sdk", 4, "invalid authority; expected svc1abc, got svc1def: unauthorized")).toBeUndefined();
});

test("codes that come without words have a meaning", () => {
  expect(meaningOf("sdk", 19)).toBe("tx already in mempool");
  expect(meaningOf("wasm", 19)).toBeUndefined();
});

test("a message that the chain does not handle belongs to another network", () => {
  const { code } = sdkErrors.unknownRequest;
  expect(remedyOf("sdk", code, 'no handler for "/sdk.upgrade.v1beta1.MsgSoftwareUpgrade"')).toContain(
    "this is a chain of svc, which does not have the module",
  );
  expect(remedyOf("sdk", code, "some other refusal")).toBeUndefined();
});
