import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { toHex } from "../../src/util/index.ts";
import {
  MsgCloseDeploymentSchema,
  MsgPauseGroupSchema,
  MsgStartGroupSchema,
} from "../../src/wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { CASES, deployed, type GasCase, newChain, withBids } from "../gas/cases/index.ts";
import { fullGroup } from "../gas/content.ts";
import { stateBytes } from "../gas/worst-block.ts";

/** Gas of a byte of state (parameter `store_gas.write_byte`). */
const WRITE_BYTE = 15n;
function caseOf(message: string, content: string): GasCase {
  const found = CASES[message]?.find((each) => each.content.startsWith(content));
  if (found === undefined) throw new Error(`there is no case ${content} of ${message}`);
  return found;
}

/** Gas of the first transaction of a case. */
function gasOf({ prepare }: GasCase): bigint {
  const { chain, txs } = prepare(1);
  return chain.mustRun(...txs.slice(0, 1)).gasUsed;
}

describe("a transaction of 56 kB", () => {
  it("that pauses and starts a group again and again stores no copies of what the group asks for", () => {
    const { chain, tenant, id } = deployed([fullGroup("group")]);
    const pair = [create(MsgPauseGroupSchema, { id }), create(MsgStartGroupSchema, { id })];
    const messages = Array.from({ length: 250 }, () => pair).flat();
    const before = stateBytes(chain);
    const { gasUsed } = chain.mustRun({ messages, signers: [tenant] });
    const added = BigInt(stateBytes(chain) - before);
    expect(added).toBeLessThan(300_000n);
    expect(gasUsed).toBeGreaterThan(added * WRITE_BYTE);
    // More than a block allows.
    expect(gasUsed).toBeGreaterThan(30_000_000n);
  });
});

describe("messages that touch much", () => {
  it("pay for each lease that is collected from", () => {
    const many = gasOf(caseOf("svc.market.v1beta1.MsgWithdrawLeases", "200 leases"));
    expect(many).toBeGreaterThan(200n * 10_000n);
  });

  it("pay for every auditor and attribute that a bid is held against", () => {
    const audited = gasOf(caseOf("svc.market.v1beta1.MsgCreateBid", "the most auditors"));
    const plain = gasOf(caseOf("svc.market.v1beta1.MsgCreateBid", "the last of 20"));
    expect(audited).toBeGreaterThan(20n * plain);
  });

  it("leave bids to the end of blocks, a bounded number in each: twenty groups with twenty bids", () => {
    const { chain, tenant } = withBids(1, 20, newChain());
    const open = () =>
      [...chain.app.state.store("market").iterate()].filter(([key]) => toHex(key.subarray(0, 2)) === "2101").length;
    expect(open()).toBe(400);
    const { results } = chain.mustRun({
      messages: [create(MsgCloseDeploymentSchema, { id: { owner: tenant.address, dseq: 1n } })],
      signers: [tenant],
    });
    expect(results).toHaveLength(1);
    expect(open()).toBe(200);
    chain.block([]);
    expect(open()).toBe(0);
  });
});
