import { readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { cliChain } from "../../../test/cli/chain.ts";

/** Transactions as they were recorded with the reference tool on its own chain, sent again on ours. */

interface Recorded {
  readonly args: readonly string[];
  readonly stdin: string;
  readonly rc: number;
  readonly stdout: string;
  readonly stderr: string;
}
const url = new URL("../../../test/vectors/cli-live-sdk042.json", import.meta.url);
const all = JSON.parse(readFileSync(url, "utf8")) as readonly Recorded[];
const sends = all.filter(({ args }) => args.slice(0, 3).join(" ") === "tx bank send");

const chain = await cliChain("k0", "k3");
const { k0 = "", k3 = "" } = chain.addresses;
afterAll(() => chain.stop());

const WORDS: ReadonlyMap<string, string> = new Map([
  ["cosmos1vqekc49ukm8gu5xsn7dwsdduqan5rjw0mzh4y6", k0],
  ["cosmos1gea4s0r75sy2evw2t5y6rtkcu6sruvnn49qefv", k3],
  ["10uvec", "10stake"],
  ["999999999999uvec", "999999999999stake"],
  ["500stake", "500utoken"],
  ["0.0025stake", "0.0025utoken"],
  // Our transactions cost less.
  ["40000", "1000"],
  ["vec-1", "cli-test-1"],
]);

function ours(text: string): string {
  let result = text.replaceAll("/cosmos.", "/sdk.").replaceAll('"denom":"uvec"', '"denom":"stake"');
  for (const [from, to] of [...WORDS].slice(0, 4)) result = result.replaceAll(from, to);
  return result;
}

/** Numbers that differ from chain to chain. */
function comparable(json: string): unknown {
  const { txhash, events, height, gas_used, gas_wanted, data, raw_log, ...rest } = JSON.parse(json);
  const log = String(raw_log)
    .replace(/500(utoken|stake)/, "FEE")
    .replace(/expected \d+/, "expected N")
    .replace(/\d+(stake|uvec) is smaller/, "BALANCE is smaller")
    .replace(/in location: .*; gasWanted: \d+, gasUsed: \d+/, "in location: SOMEWHERE");
  return {
    ...rest,
    raw_log: log,
    inBlock: Number(height) > 0,
    hasEvents: rest.code === 0 && events.length > 0,
    hashes: txhash.length,
  };
}

describe("sends of the reference", () => {
  test.each(sends.map((recorded) => [recorded.args.slice(5).join(" "), recorded] as const))(
    "%s",
    async (_, recorded) => {
      const args = recorded.args.map((word) => WORDS.get(word) ?? word);
      const { code, out, err } = await chain.run(args, { input: recorded.stdin });
      if (args.includes("--dry-run")) {
        // The reference looked for the key in an empty keyring; ours prints the gas.
        expect({ code, out }).toEqual({ code: 0, out: "" });
        expect(err).toMatch(/^gas estimate: \d+\n$/);
        return;
      }
      if (recorded.stdout === "") {
        expect({ code, out, err }).toEqual({ code: 0, out: "", err: ours(recorded.stderr) });
        return;
      }
      expect(Object.keys(JSON.parse(out))).toEqual(Object.keys(JSON.parse(recorded.stdout)));
      expect(comparable(out)).toEqual(comparable(ours(recorded.stdout)));
      // The exit code reports a refusal as well.
      expect(code).toBe(JSON.parse(out).code === 0 ? 0 : 1);
      expect(err.replace(/\d+/, "N").startsWith(recorded.stderr.replace(/\d+/, "N"))).toBe(true);
      if (!args.includes("block")) {
        const { txhash } = JSON.parse(out);
        await expect.poll(async () => (await chain.run(["query", "tx", txhash])).code).toBe(code);
      }
    },
  );
});
