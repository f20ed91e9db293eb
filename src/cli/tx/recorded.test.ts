import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Ran, runCli } from "../../../test/cli/run.ts";
import keyVectors from "../../../test/vectors/keys.json" with { type: "json" };
import { findTypeUrl } from "../../wire/index.ts";

/** Command lines of the reference tool, typed as they were recorded. */

interface Case {
  readonly name: string;
  readonly args: readonly string[];
  readonly unsigned_json: { readonly body: { readonly messages: readonly { readonly "@type": string }[] } };
  readonly unsigned_stdout: string;
  readonly direct: { readonly signed_stdout: string };
}
interface Refusal {
  readonly args: readonly string[];
  readonly rc: number;
  readonly stdout: string;
  readonly stderr_first_lines: readonly string[];
}
const vectors = JSON.parse(readFileSync(new URL("../../../test/vectors/tx-sdk042.json", import.meta.url), "utf8")) as {
  readonly cases: readonly Case[];
  readonly errors: readonly Refusal[];
};
const known = vectors.cases.filter(({ unsigned_json: tx }) =>
  tx.body.messages.every((message) => findTypeUrl(message["@type"]) !== undefined),
);

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-recorded-"));
  for (const { name, mnemonic } of keyVectors.keys.filter((key) => ["k0", "k5"].includes(key.name))) {
    await svc(["keys", "add", name, "--recover", "--keyring-backend", "test"], `${mnemonic}\n`);
  }
  await writeFile(join(home, "send.json"), vectors.cases[0]?.unsigned_stdout ?? "");
  await writeFile(join(home, "send.direct.json"), vectors.cases[0]?.direct.signed_stdout ?? "");
});
afterAll(() => rm(home, { recursive: true }));

function svc(args: readonly string[], input = ""): Promise<Ran> {
  const inHome = args.map((word) => word.replace(/^\.\//, `${home}/`));
  return runCli(inHome, { input, env: { SVC_HOME: home, SVC_PROFILE: "cosmos" } });
}

describe("--generate-only", () => {
  test.each(known)("$name has the recorded text", async ({ args, unsigned_stdout }) => {
    const ran = await svc([...args, "--generate-only", "--chain-id", "vec-1"]);
    expect(ran).toEqual({ code: 0, out: unsigned_stdout, err: "" });
  });
});

/** Our exit code and text for each recorded refusal, in their order. */
const OURS: readonly (readonly [what: string, code: number, text: string])[] = [
  ["a name with --generate-only", 2, "Error: must provide a valid Bech32 address in generate-only mode: "],
  ["--generate-only without a chain id, which nothing needs", 0, ""],
  ["a bad fee", 2, 'Error: --fees: invalid coin "1a": write an integer amount and a denomination'],
  ["fees and prices", 2, "Error: cannot provide both fees and gas prices"],
  ["an estimate offline", 2, "Error: cannot estimate gas in offline mode"],
  ["gas that is not a number", 2, 'Error: --gas: gas must be either integer or auto, not "abc"'],
  ["a bad address", 2, 'Error: <to-address>: decoding bech32 failed for "cosmos1bad"'],
  ["a bad amount", 2, 'Error: <amount>: invalid coin "1U!"'],
  ["nothing to send", 2, 'Error: <amount>: "0uvec" is not an amount above zero'],
  ["--offline without numbers", 2, "Error: required flag --account-number is not set"],
  ["no node", 1, "Error: cannot reach the node at http://localhost:1: connection refused"],
  ["a simulation without a node", 1, "Error: cannot reach the node at http://localhost:1: connection refused"],
  ["tx sign --offline without numbers", 2, "Error: required flag --account-number is not set"],
  ["another signer", 1, "Error: tx intended signer does not match the given signer: k5\n"],
  ["no such file", 1, "Error: cannot read the transaction file: ENOENT: no such file or directory"],
  ["to broadcast offline", 2, "Error: cannot broadcast tx during offline mode"],
  ["a mode that is none", 2, 'Error: --broadcast-mode takes sync, async, block, not "foo"'],
  ["a query without a node", 1, "Error: cannot reach the node at http://localhost:1: connection refused"],
  ["no hash", 2, 'Error: <hash>: "zz" is not a transaction hash of 64 hex digits'],
  ["bytes that are not a transaction", 1, "Error: invalid length: tx parse error"],
  ["a valid signature, which is not a refusal", 0, ""],
];

describe("recorded refusals", () => {
  test("each has its row", () => expect(OURS).toHaveLength(vectors.errors.length));

  test.each(OURS.map(([what, code, text], i) => ({ what, code, text, recorded: vectors.errors[i] })))(
    "$what",
    async ({ code, text, recorded }) => {
      const ran = await svc(recorded?.args ?? []);
      expect(ran.code).toBe(code);
      expect(ran.err.startsWith(text)).toBe(true);
      if (code > 0) expect(ran.out).toBe("");
      if (recorded?.rc === 0 && code === 0) expect(ran.out).toBe(recorded.stdout);
    },
  );
});
