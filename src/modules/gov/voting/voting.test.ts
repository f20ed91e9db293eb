import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { createValidatorMessage, genesisValidator, operatorAddress } from "../../../../test/support/chain/index.ts";
import {
  coins,
  GOV,
  held,
  M,
  newChain,
  PARAMS,
  proposal,
  submit,
  twoSeats,
  vote,
} from "../../../../test/support/gov-chain.ts";
import { thorough } from "../../../../test/support/runs.ts";
import { DEFAULT_CONSENSUS_PARAMS, NO_VOTERS } from "../../../abci/index.ts";
import { createApp, standardModules } from "../../../app/index.ts";
import { moduleAddress } from "../../../crypto/index.ts";
import { Context } from "../../../runtime/index.ts";
import { CacheMultiStore, type KVStore, memoryDatabase } from "../../../store/index.ts";
import { type TestChain, testChain, testKey } from "../../../testing/index.ts";
import { toHex } from "../../../util/index.ts";
import { OpenTallySchema, ProposalStatus, VoteOption, VoteSchema } from "../../../wire/gen/sdk/gov/v1/gov_pb.js";
import { Query } from "../../../wire/gen/sdk/gov/v1/query_pb.js";
import { MsgDelegateSchema } from "../../../wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { encodeAddress, encodeMessage } from "../../../wire/index.ts";
import { BLOCK_WORK } from "../limits.ts";
import { GovRecords } from "../records.ts";

/** Accounts that have nothing, in the order of their addresses. */
const strangers = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => {
    const bytes = new Uint8Array(20);
    new DataView(bytes.buffer).setUint32(0, i + 1);
    return encodeAddress(bytes);
  });

/** More votes than one block deletes. */
const CROWD = BLOCK_WORK + 500;

/** Alice's validator has a token of its own, the last voter a hundred; all others of the crowd have nothing. */
function crowd(votingEnd: string): TestChain {
  const names = ["alice", "bob", "carol", "dave"];
  const [alice, rich = ""] = [testKey("alice"), encodeAddress(new Uint8Array(20).fill(255))];
  const { validator, delegation } = genesisValidator(alice, M);
  const shares = (tokens: bigint): string => `${tokens}.${"0".repeat(18)}`;
  const honest = { ...delegation, delegator_address: rich, shares: shares(100n * M) };
  const pool = encodeAddress(moduleAddress("not_bonded_tokens_pool"));
  const tally = { yes_count: "0", abstain_count: "0", no_count: "0", no_with_veto_count: "0" };
  const begun = "2024-12-31T00:00:00Z";
  const times = { submit_time: begun, deposit_end_time: begun, voting_start_time: begun, voting_end_time: votingEnd };
  const open = { id: "1", status: "PROPOSAL_STATUS_VOTING_PERIOD", final_tally_result: tally, ...times };
  const voted = (voter: string, option: string) => ({ proposal_id: "1", voter, options: [{ option, weight: "1" }] });
  return testChain({
    checkedAt: (height) => height > 3n,
    genesis: {
      bank: {
        balances: [
          ...names.map((name) => ({ address: testKey(name).address, coins: coins(10n ** 12n) })),
          { address: pool, coins: coins(101n * M) },
          { address: GOV, coins: coins(10n * M) },
        ],
      },
      staking: {
        validators: [{ ...validator, tokens: `${101n * M}`, delegator_shares: shares(101n * M) }],
        delegations: [delegation, honest],
      },
      gov: {
        starting_proposal_id: "2",
        params: PARAMS,
        proposals: [{ ...open, total_deposit: coins(10n * M), title: "T", summary: "S", metadata: "M" }],
        deposits: [{ proposal_id: "1", depositor: alice.address, amount: coins(10n * M) }],
        votes: [
          ...strangers(CROWD).map((voter) => voted(voter, "VOTE_OPTION_ABSTAIN")),
          voted(rich, "VOTE_OPTION_NO"),
          voted(testKey("bob").address, "VOTE_OPTION_YES"),
        ],
      },
    },
  });
}

describe("a vote", () => {
  test("that becomes a regular one counts only what is voted from then on, by whom it was before as well", () => {
    const { chain, alice, carol, dave } = newChain();
    chain.mustSend(submit(dave, [], { expedited: true, initialDeposit: coins(50n * M) }), { from: dave });
    chain.block([chain.sign(vote(carol, 1n), { from: carol })]);
    expect(proposal(chain, 1n)).toMatchObject({ expedited: false, finalTallyResult: { yesCount: `${4n * M}` } });
    expect(chain.query(Query.method.votes, { proposalId: 1n }).votes).toEqual([]);
    const pair = { delegatorAddress: carol.address, validatorAddress: operatorAddress(alice) };
    const more = create(MsgDelegateSchema, { ...pair, amount: coins(M)[0] });
    chain.block([chain.sign([vote(carol, 1n, VoteOption.NO), more], { from: carol, gas: 10n ** 6n })]);
    const { tally } = chain.query(Query.method.tallyResult, { proposalId: 1n });
    expect(tally).toMatchObject({ yesCount: "0", noCount: `${5n * M}` });
  });

  test("is not counted less because somebody stronger becomes a validator in its last block", () => {
    const { chain, alice, bob, carol, dave } = newChain({}, { staking: { params: twoSeats } });
    chain.mustSend(submit(dave), { from: dave });
    chain.block([chain.sign(vote(bob, 1n), { from: bob }), chain.sign(vote(alice, 1n), { from: alice })]);
    chain.nextBlock();
    chain.block([chain.sign(createValidatorMessage(carol, { amount: 1000n * M }), { from: carol, gas: 10n ** 6n })]);
    expect(proposal(chain, 1n)).toMatchObject({
      status: ProposalStatus.PASSED,
      finalTallyResult: { yesCount: `${20n * M}` },
    });
  });
});

describe("votes of version 1 of the module", () => {
  const records = new GovRecords();
  const migrateGov = standardModules().modules.find(({ name }) => name === "gov")?.migrations?.[1];

  const rowsOf = (store: KVStore) => [...store.iterate()].map((row) => row.map(toHex).join(" "));

  /** Two votes, one of them expedited, in version 1 of the state; counting may have begun. */
  function versionOne(...counts: bigint[]) {
    const { chain, alice, bob, carol, dave } = newChain({ voting_period: "600s", expedited_voting_period: "300s" });
    chain.mustSend(submit(dave), { from: dave });
    chain.mustSend(submit(dave, [], { expedited: true, initialDeposit: coins(50n * M) }), { from: dave });
    for (const id of [1n, 2n])
      chain.block([
        chain.sign(vote(alice, id), { from: alice }),
        chain.sign(vote(bob, id, VoteOption.NO), { from: bob }),
        chain.sign(vote(carol, id, VoteOption.ABSTAIN), { from: carol }),
      ]);
    const stores = new CacheMultiStore(chain.app.state);
    const store = stores.store("gov");
    const wanted = rowsOf(store);
    const raw = [...records.votes.iterate(store)];
    for (const [key] of raw) records.votes.delete(store, key);
    for (const key of [...records.voted.keys(store)]) records.voted.delete(store, key);
    for (const [[, voter], each] of raw)
      store.set(records.votes.storeKey([each.proposalId, voter]), encodeMessage(VoteSchema, each));
    for (const proposalId of counts) records.tallies.set(store, proposalId, create(OpenTallySchema, { proposalId }));
    const block = { chainId: "test-1", height: chain.height + 1n, time: chain.time, proposer: new Uint8Array(20) };
    const ctx = new Context({ block, mode: "block", stores });
    return { chain, store, wanted, migrate: () => migrateGov?.(ctx) };
  }

  test("go on as if they had been made today", () => {
    const { store, wanted, migrate } = versionOne();
    migrate();
    expect(rowsOf(store)).toEqual(wanted);
  });

  test("of which a count had begun are made again, in a new time of voting", () => {
    const { chain, store, migrate } = versionOne(1n);
    migrate();
    const { votingStartTime, votingEndTime } = records.proposals.require(store, 1n);
    const now = chain.time / 10n ** 9n;
    expect([votingStartTime?.seconds, votingEndTime?.seconds]).toEqual([now, now + 600n]);
    expect([...records.votes.values(store)].map(({ proposalId }) => proposalId)).toEqual([2n, 2n, 2n]);
    expect([...records.votingQueue.iterate(store)].map(({ key }) => key)).toEqual([2n, 1n]);
    expect([...records.tallies.keys(store)]).toEqual([]);
  });

  test("of a genesis file with a count that had begun are made again too", () => {
    const { chain } = versionOne();
    const exported = chain.app.exportGenesis() as { gov: object };
    const tallies = [{ proposal_id: "1", total: "5", yes: "5" }];
    const again = createApp({ database: memoryDatabase(), checkInvariants: true });
    const [time, height] = [chain.time + 1n, chain.height + 1n];
    again.initChain({
      ...{ chainId: "test-1", time, initialHeight: height, validators: [], consensusParams: DEFAULT_CONSENSUS_PARAMS },
      appState: { ...exported, gov: { ...exported.gov, tallies } },
    });
    const place = { height, time, proposer: new Uint8Array(20), hash: new Uint8Array(32) };
    again.finalizeBlock({ ...NO_VOTERS, ...place, txs: [] });
    again.commit();
    const { gov } = again.exportGenesis() as unknown as {
      gov: { votes: { proposal_id: string }[]; tallies: object[] };
    };
    expect([gov.votes.map(({ proposal_id }) => proposal_id), gov.tallies]).toEqual([["2", "2", "2"], []]);
  });
});

thorough(() => {
  describe("a vote of more accounts than a block can read", () => {
    const tally = { yesCount: "0", abstainCount: "0", noCount: `${100n * M}`, noWithVetoCount: "0" };

    test("ends in one block: what somebody delegates later changes nothing", () => {
      const chain = crowd("2025-01-01T00:00:12Z");
      const bob = chain.key("bob");
      expect(chain.query(Query.method.tallyResult, { proposalId: 1n }).tally).toMatchObject(tally);
      chain.nextBlock();
      const late = create(MsgDelegateSchema, {
        delegatorAddress: bob.address,
        validatorAddress: operatorAddress(chain.key("alice")),
        amount: coins(10n ** 11n)[0],
      });
      chain.block([chain.sign(late, { from: bob, gas: 500_000n }), chain.sign(vote(bob, 1n), { from: bob })]);
      chain.nextBlock();
      expect(proposal(chain, 1n)).toMatchObject({ status: ProposalStatus.REJECTED, finalTallyResult: tally });
      expect(held(chain)).toBe(0n);
    });

    test("shows no votes from its end on, and forgets them in some blocks", () => {
      const chain = crowd("2025-01-01T00:00:06Z");
      const rows = (): number => [...chain.app.state.store("gov").iterate({ start: Uint8Array.of(4) })].length;
      const others = 5;
      expect(chain.query(Query.method.votes, { proposalId: 1n }).votes).toEqual([]);
      expect(rows()).toBeGreaterThan(others);
      expect((chain.app.exportGenesis() as { gov: { votes?: object[] } }).gov.votes ?? []).toEqual([]);
      chain.nextBlock();
      expect(rows()).toBeLessThanOrEqual(others);
    });
  });
});
