import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { runCli } from "../../../../test/cli/run.ts";
import { NodeDouble } from "../../../../test/support/node-double.ts";
import { sdkErrors, toBase64 } from "../../../util/index.ts";
import { Query as NewQuery } from "../../../wire/gen/sdk/gov/v1/query_pb.js";
import { TextProposalSchema } from "../../../wire/gen/sdk/gov/v1beta1/gov_pb.js";
import { Query as OldQuery } from "../../../wire/gen/sdk/gov/v1beta1/query_pb.js";
import { MsgSubmitProposalSchema } from "../../../wire/gen/sdk/gov/v1beta1/tx_pb.js";
import { encodeAuthInfo, encodeTx, encodeTxBody, packAny } from "../../../wire/index.ts";

const ALICE = "svc1vqekc49ukm8gu5xsn7dwsdduqan5rjw0crjevv";
const VOTING = { votingPeriod: { seconds: 60n } };
const DEPOSIT = { minDeposit: [{ denom: "stake", amount: "10" }], maxDepositPeriod: { seconds: 90n } };
const THIRD = new TextEncoder().encode("334000000000000000");

let node = new NodeDouble();
afterAll(() => node.stop());
beforeEach(async () => {
  await node.stop();
  node = new NodeDouble();
  node.methods.abci_query = () => {
    const { code, codespace, message } = sdkErrors.unknownRequest("unknown query path");
    return { response: { code, codespace, log: message, info: "", index: "0", key: null, value: null, height: "0" } };
  };
  await node.start();
});

async function query(...args: readonly string[]) {
  const { code, out, err } = await runCli(["query", "gov", ...args, "-o", "json", "--node", node.address]);
  return code === 0 ? JSON.parse(out) : err;
}

describe("a chain of today", () => {
  test("shows proposals with their messages, and who submitted them", async () => {
    const proposal = { id: 7n, title: "t", proposer: ALICE, messages: [packAny(TextProposalSchema, { title: "x" })] };
    node.answerQuery(NewQuery.method.proposal, () => ({ proposal }));
    const expected = { id: "7", title: "t", proposer: ALICE, messages: [{ "@type": "/sdk.gov.v1beta1.TextProposal" }] };
    expect(await query("proposal", "7")).toMatchObject(expected);
    expect(await query("proposer", "7")).toEqual({ proposal_id: "7", proposer: ALICE });
  });

  test("filters proposals by status in all its spellings", async () => {
    const asked: string[] = [];
    node.answerQuery(NewQuery.method.proposals, (request) => {
      asked.push(Buffer.from(request).toString("hex").slice(0, 4));
      return {};
    });
    for (const status of ["voting-period", "voting_period", "VotingPeriod", "PROPOSAL_STATUS_VOTING_PERIOD"]) {
      expect(await query("proposals", "--status", status)).toMatchObject({ proposals: [] });
    }
    await query("proposals", "--proposal-status", "passed");
    expect(asked).toEqual(["0802", "0802", "0802", "0802", "0803"]);
  });

  test("has all parameters in one message, and parts of it by name", async () => {
    const params = { quorum: "0.334", ...VOTING };
    node.answerQuery(NewQuery.method.params, () => ({ params, votingParams: VOTING }));
    expect(await query("params")).toMatchObject({ quorum: "0.334", voting_period: "60s", max_deposit_period: null });
    expect(await query("param", "voting")).toEqual({ voting_period: "60s" });
  });
});

describe("a chain from before 0.46", () => {
  test("is asked in the older way", async () => {
    const proposal = { proposalId: 7n, content: packAny(TextProposalSchema, { title: "x", description: "d" }) };
    node.answerQuery(OldQuery.method.proposal, () => ({ proposal }));
    expect(await query("proposal", "7")).toMatchObject({ proposal_id: "7", content: { title: "x", description: "d" } });
  });

  test("has its parameters in three parts", async () => {
    const parts: Record<string, object> = {
      voting: { votingParams: VOTING },
      deposit: { depositParams: DEPOSIT },
      tallying: { tallyParams: { quorum: THIRD, threshold: THIRD, vetoThreshold: THIRD } },
    };
    node.answerQuery(OldQuery.method.params, (request) => parts[Buffer.from(request).toString("utf8", 2)] ?? {});
    expect(await query("params")).toEqual({
      voting_params: { voting_period: "60s" },
      deposit_params: { min_deposit: [{ denom: "stake", amount: "10" }], max_deposit_period: "90s" },
      tally_params: {
        quorum: "0.334000000000000000",
        threshold: "0.334000000000000000",
        veto_threshold: "0.334000000000000000",
      },
    });
    expect(await query("param", "deposit")).toMatchObject({ max_deposit_period: "90s" });
  });

  test("keeps who submitted a proposal in its transactions alone", async () => {
    node.answerQuery(OldQuery.method.proposal, () => ({ proposal: { proposalId: 7n } }));
    const bodyBytes = encodeTxBody({ messages: [packAny(MsgSubmitProposalSchema, { proposer: ALICE })] });
    const authInfoBytes = encodeAuthInfo({ amount: [], gasLimit: 0n }, []);
    const tx = toBase64(encodeTx({ bodyBytes, authInfoBytes }, []));
    const found = { hash: "00", height: "5", index: 0, tx_result: { code: 0 }, tx };
    let txs = [found];
    node.methods.tx_search = ({ query: text }) => {
      expect(text).toBe("submit_proposal.proposal_id='7'");
      return { txs, total_count: String(txs.length) };
    };
    node.methods.status = () => ({
      node_info: { network: "x", version: "0.34.14", moniker: "m" },
      sync_info: { latest_block_hash: "", latest_block_height: "5", latest_block_time: "2026-01-01T00:00:00Z" },
    });
    node.methods.block = () => {
      const header = { chain_id: "x", height: "5", time: "2026-01-01T00:00:00Z", app_hash: "", proposer_address: "" };
      return { block_id: { hash: "00" }, block: { header, data: { txs: [] } } };
    };
    expect(await query("proposer", "7")).toEqual({ proposal_id: "7", proposer: ALICE });
    txs = [];
    expect(await query("proposer", "7")).toContain("no transaction that submitted proposal 7");
  });
});

test("a chain without the module, in one sentence", async () => {
  expect(await query("tally", "7")).toBe(
    "Error: module gov is not on this chain, or has no /sdk.gov.v1beta1.Query/TallyResult: unknown query\n" +
      "Hint: is it the right --node? for a network with its own names give its --profile\n",
  );
});
