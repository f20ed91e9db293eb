import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CliChain, cliChain } from "./cli/chain.ts";
import recorded from "./vectors/rpc-live-tm034.json" with { type: "json" };

/**
 * Calls that were recorded of an engine of release 0.34, asked of our node: it has every field that was there, of the same
 * kind, except those that later releases of the engine, whose interface ours follows, no longer have.
 */

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

let chain: CliChain;
let hash = "";
beforeAll(async () => {
  chain = await cliChain("alice", "bob");
  ({ txhash: hash } = await chain.tx("bank", "send", "alice", chain.addresses.bob ?? "", "5utoken"));
});
afterAll(() => chain.stop());

/** Fields of values in it with their kinds; for lists, the fields of the first item. */
function kinds(json: Json, path = ""): string[] {
  if (Array.isArray(json)) return json.length === 0 ? [] : kinds(json[0], `${path}[]`);
  if (typeof json === "object" && json !== null) {
    return Object.entries(json).flatMap(([key, value]) => kinds(value as Json, `${path}.${key}`));
  }
  return json === null ? [] : [`${path}: ${typeof json}`];
}

/** Fields that engines since 0.37 no longer have; changes of parameters and proofs, which our blocks lack. */
const GONE = /^\.begin_block_events|^\.consensus_param_updates|\.time_iota_ms|^\.response\.(key|value|proofOps)/;

const calls = recorded.filter(
  ({ http, body, response }) => body === null && /"result"/.test(response) && !http.endsWith("/genesis"),
);

describe("our node answers as a node of the era", () => {
  test.each(calls.map((each) => [new URL(each.http).pathname + new URL(each.http).search, each] as const))(
    "%s",
    async (path, { response }) => {
      const own = path.replaceAll(/0x[0-9A-F]{64}/g, `0x${hash}`);
      const answer = await fetch(`${chain.node}${own}`);
      const { result } = (await answer.json()) as { readonly result: Json };
      const wanted = kinds(JSON.parse(response).result).filter((field) => !GONE.test(field));
      const found = new Set(kinds(result));
      expect(wanted.filter((field) => !found.has(field))).toEqual([]);
    },
  );
});
