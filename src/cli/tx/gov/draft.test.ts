import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CliChain, cliChain } from "../../../../test/cli/chain.ts";
import { allMsgs, typeUrlOf } from "../../../wire/index.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-draft-"));
let chain: CliChain;
let authority = "";
beforeAll(async () => {
  chain = await cliChain("alice");
  const account = await chain.query("auth", "module-account", "gov");
  authority = account.base_account.address;
});
afterAll(async () => {
  await chain.stop();
  rmSync(folder, { recursive: true });
});

async function draft(...words: string[]) {
  const { code, out, err } = await chain.run(["tx", "gov", "draft-proposal", ...words]);
  expect({ words, code, err }).toEqual({ words, code: 0, err: "" });
  return JSON.parse(out);
}

describe("tx gov draft-proposal", () => {
  test("without a message is a text, with the deposit that opens its vote", async () => {
    const [{ denom, amount }] = (await chain.query("gov", "params")).min_deposit;
    expect(await draft()).toMatchObject({ messages: [], deposit: `${amount}${denom}`, expedited: false });
  });

  test("has the parameters of today, signed by governance", async () => {
    const present = await chain.query("staking", "params");
    const { messages } = await draft("/sdk.staking.v1beta1.MsgUpdateParams");
    expect(messages).toEqual([{ "@type": "/sdk.staking.v1beta1.MsgUpdateParams", authority, params: present }]);
    const consensus = await draft("sdk.consensus.v1.MsgUpdateParams");
    expect(consensus.messages).toMatchObject([{ authority, block: { max_gas: "30000000" } }]);
  });

  test("finds a message by its name, and asks for more where there are several", async () => {
    const { messages } = await draft("MsgCommunityPoolSpend");
    expect(messages).toEqual([
      { "@type": "/sdk.distribution.v1beta1.MsgCommunityPoolSpend", authority, recipient: "", amount: [] },
    ]);
    const several = await chain.run(["tx", "gov", "draft-proposal", "MsgUpdateParams"]);
    expect(several.code).toBe(2);
    expect(several.err).toContain("messages are called");
    expect(several.err).toContain("/sdk.bank.v1beta1.MsgUpdateParams");
    const none = await chain.run(["tx", "gov", "draft-proposal", "MsgNothing"]);
    expect(none).toMatchObject({ code: 2, out: "" });
    expect(none.err).toContain('"MsgNothing" is not the name of a message');
  });

  test("can be read by submit-proposal, whatever the message", { timeout: 120_000 }, async () => {
    for (const schema of allMsgs()) {
      const path = join(folder, "proposal.json");
      const proposal = await draft(typeUrlOf(schema));
      writeFileSync(path, JSON.stringify(proposal));
      const flags = ["--from", chain.addresses.alice ?? "", "--generate-only"];
      const { code, out, err } = await chain.run(["tx", "gov", "submit-proposal", path, ...flags]);
      expect({ type: schema.typeName, code, err }).toEqual({ type: schema.typeName, code: 0, err: "" });
      expect(JSON.parse(out).body.messages[0].messages[0]["@type"]).toBe(typeUrlOf(schema));
    }
  });
});
