import { afterAll, describe, expect, test } from "vitest";
import { cliChainOf } from "../../../test/cli/chain.ts";

/** Two commands fit between two blocks. */
const chain = await cliChainOf(["alice", "bob"], { blockInterval: "3s", hurry: false });
const { bob = "" } = chain.addresses;
afterAll(() => chain.stop());

const FEES = ["-y", "--fees", "5000utoken"];
let amount = 0;
/** Never the same twice: that would be one transaction. */
const send = (...flags: string[]) => ["tx", "bank", "send", "alice", bob, `${++amount}utoken`, ...FEES, ...flags];

async function sent(argv: readonly string[]): Promise<{ txhash: string; err: string }> {
  const { code, out, err } = await chain.run(argv);
  expect({ code, err }).toEqual({ code: 0, err: expect.any(String) });
  return { txhash: JSON.parse(out).txhash, err };
}

test("for a transaction that is in no block yet, the command that waits for it is named", async () => {
  const hash = "AB".repeat(32);
  const { code, out, err } = await chain.run(["query", "tx", hash.toLowerCase()]);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toBe(
    `Error: tx (${hash}): not found\nHint: if it was sent just now, wait for its block: svc query wait-tx ${hash}\n`,
  );
});

describe("commands one after the other, between two blocks", () => {
  test("each gets a sequence of its own, and all are in a block", async () => {
    const hashes = [
      await sent(send()),
      await sent(send()),
      await sent(send("--sign-mode", "amino-json")),
      await sent([
        "tx",
        "bank",
        "send",
        "alice",
        bob,
        "5utoken",
        "-y",
        "--gas",
        "auto",
        "--gas-adjustment",
        "1.3",
        "--gas-prices",
        "1utoken",
      ]),
    ];
    const [first = "", second = ""] = hashes.map(({ err }) => err.replace(/^not in a block yet; .*\n$/m, ""));
    expect(first).toBe("");
    expect(second).toBe("another transaction of the account has used the sequence: signing with sequence 1\n");
    for (const { txhash } of hashes) {
      const found = JSON.parse((await chain.run(["query", "wait-tx", txhash, "-o", "json"])).out);
      expect(found).toMatchObject({ code: 0, txhash });
    }
  });

  test("a given sequence stays, and its refusal is reported", async () => {
    const { code, out, err } = await chain.run(send("--sequence", "0"));
    expect([code, JSON.parse(out).code]).toEqual([1, 32]);
    expect(err).toContain("Hint: another transaction of this account is pending: leave out --sequence");
  });

  test("the same command twice is one transaction: it is not paid for twice", async () => {
    const same = ["tx", "bank", "send", "bob", chain.addresses.alice ?? "", "99utoken", ...FEES];
    const { txhash } = await sent(same);
    const { code, out, err } = await chain.run(same);
    expect([code, JSON.parse(out)]).toMatchObject([1, { code: 19, txhash }]);
    expect(err).toContain("to send the same again, wait for its block: svc query wait-tx <hash>");
  });
});
