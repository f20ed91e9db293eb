import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, type DescMethod, type MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_CONSENSUS_PARAMS, type Misbehavior, NO_VOTERS, type VoteInfo } from "../../src/abci/index.ts";
import { createApp, type SvcApplication } from "../../src/app/index.ts";
import { consensusAddress, ed25519PublicKey, sha256 } from "../../src/crypto/index.ts";
import { memoryDatabase } from "../../src/store/index.ts";
import { fromHex, toBase64, toHexUpper, toUtf8 } from "../../src/util/index.ts";
import { Query as Bank } from "../../src/wire/gen/sdk/bank/v1beta1/query_pb.js";
import { Query as Distribution } from "../../src/wire/gen/sdk/distribution/v1beta1/query_pb.js";
import { Query as Evidence } from "../../src/wire/gen/sdk/evidence/v1beta1/query_pb.js";
import { Query as Mint } from "../../src/wire/gen/sdk/mint/v1beta1/query_pb.js";
import { Query as Slashing } from "../../src/wire/gen/sdk/slashing/v1beta1/query_pb.js";
import { Query as Staking } from "../../src/wire/gen/sdk/staking/v1beta1/query_pb.js";
import {
  decodeAddress,
  decodeMessage,
  encodeAddress,
  encodeMessage,
  methodPath,
  parseTimestamp,
  toJson,
  toNanos,
} from "../../src/wire/index.ts";
import { Rng, waitFor } from "../support/index.ts";
import { type DoubleVoter, doubleVote, misbehaviorOf } from "./double-vote.ts";
import { buildPeer, Peer } from "./peers.ts";
import { type SimdChain, startSimdChain } from "./simd-chain.ts";
import { ourGenesis } from "./simd-replay.ts";

/**
 * Random operations of staking on a chain of the reference; its blocks, with their times and votes, then run through our
 * application. Everything that the two report must agree to the last digit.
 */

/** Rounds of up to three operations; a run repeats with its seed. */
const ROUNDS = Number(process.env.STAKE_DIFF_ROUNDS ?? 15);
const SEED = Number(process.env.STAKE_DIFF_SEED ?? 7);

const built = await buildPeer("simd53");
const missing = built instanceof Peer ? "" : built.missing;

test.skipIf(missing !== "" && process.env.CI !== "true")(
  missing === "" ? "the reference tool is there" : `no reference tool, staking is not compared with it: ${missing}`,
  () => expect(missing).toBe(""),
);

const root = mkdtempSync(join(tmpdir(), "svc-differential-"));
afterAll(() => rmSync(root, { recursive: true }));

const DELEGATORS = ["alice", "bob", "carol"];
const OPERATORS = ["second", "third"];
/** An operator whose key signs two blocks of one height. */
const LIAR = "liar";
/** Coins that leave it each way before this is known. */
const LEAVING = 1_000_003;
const FEE = ["--gas", "2000000", "--fees", "537stake", "-y"];
/** Events of each block that both report alike. */
const EVENTS = [
  ...["mint", "commission", "rewards", "withdraw_rewards", "withdraw_commission", "set_withdraw_address"],
  ...["create_validator", "delegate", "unbond", "redelegate", "cancel_unbonding_delegation"],
  ...["complete_unbonding", "complete_redelegation", "liveness", "slash", "burn", "coinbase"],
];

interface Random {
  int(below: number): number;
}

interface Told {
  readonly type: string;
  readonly attributes: readonly { readonly key: string; readonly value: string }[];
}

interface TheirBlock {
  readonly txs: readonly Uint8Array[];
  readonly time: bigint;
  readonly proposer: Uint8Array;
  readonly votes: readonly VoteInfo[];
  readonly misbehavior: readonly Misbehavior[];
  readonly codes: readonly number[];
  readonly events: readonly Told[];
}

describe.skipIf(!(built instanceof Peer))("random staking on a chain of the reference, and on ours", () => {
  let chain: SimdChain;
  let app: SvcApplication;
  let last = 0;
  const operators: string[] = [];
  /** Operators by the name of the account that delegated to them. */
  const delegated = new Map<string, readonly string[]>();
  const differences: string[] = [];
  /** How often the reference reported each kind of thing. */
  const seen = new Map<string, number>();
  let operations = 0;

  beforeAll(async () => {
    if (!(built instanceof Peer)) return;
    console.log(`staking against the reference: seed ${SEED}, ${ROUNDS} rounds`);
    chain = await startSimdChain(built, {
      prefix: "svc",
      accounts: [...DELEGATORS, ...OPERATORS, LIAR],
      unbondingSeconds: 20,
      changeGenesis: ({ app_state: state }) => {
        Object.assign((state as { slashing: { params: object } }).slashing.params, {
          signed_blocks_window: "12",
          min_signed_per_window: "0.500000000000000000",
          downtime_jail_duration: "60s",
          slash_fraction_downtime: "0.012345678900000000",
        });
      },
    });
    operators.push(chain.validator);
    await operate();
    await chain.blocks(3);
    last = await chain.height();
    app = replayed();
    for (let height = 1; height <= last; height++) await runBlock(height);
  }, 900_000);
  afterAll(() => chain?.stop());

  /** Operations of different accounts go in one round, and wait for their blocks. */
  async function operate(): Promise<void> {
    const rng = new Rng(SEED);
    const random = { int: (below: number) => Math.floor(rng.next() * below) };
    for (const [at, name] of OPERATORS.entries()) await createValidator(name, ["0.1", "0.073"][at] ?? "0");
    for (let round = 0; round < ROUNDS; round++) {
      if (round === 1) await lie();
      const accounts = [...DELEGATORS, ...OPERATORS, "validator"].filter(() => random.int(2) === 0).slice(0, 4);
      const planned: string[][] = [];
      for (const name of accounts) planned.push([...(await operation(random, name)), "--from", name]);
      await Promise.all(planned.map((words) => chain.run(["tx", ...words, ...FEE])));
      await chain.blocks(2);
    }
  }

  /** A validator votes for two blocks; some have delegated to it, some leave it before that is known. */
  async function lie(): Promise<void> {
    await createValidator(LIAR, "0.05");
    const address = consensusAddress(ed25519PublicKey(seedOf(LIAR)));
    const isIn = ({ address: each }: { address: string }) => each === toHexUpper(address);
    const voter = await waitFor(async (): Promise<DoubleVoter | undefined> => {
      const { block_height: height, validators } = await rpc("validators?per_page=100");
      const index = validators.findIndex(isIn);
      return index < 0 ? undefined : { height: Number(height), index, validators, seed: seedOf(LIAR) };
    }, "the second vote of a validator");
    const there = operators.at(-1) ?? "";
    const fee = FEE.slice(0, -1);
    await chain.tx("staking", "delegate", there, `${5 * LEAVING}stake`, "--from", "alice", ...fee);
    await chain.tx("staking", "unbond", there, `${LEAVING}stake`, "--from", "alice", ...fee);
    await chain.tx("staking", "redelegate", there, chain.validator, `${LEAVING}stake`, "--from", "alice", ...fee);
    const { block } = await rpc(`block?height=${voter.height}`);
    const evidence = doubleVote(chain.chainId, voter, block.header.time);
    await rpc(`broadcast_evidence?evidence=${encodeURIComponent(JSON.stringify(evidence))}`);
    await chain.blocks(2);
  }

  async function createValidator(name: string, rate: string): Promise<void> {
    const path = join(root, `${name}.json`);
    const key = toBase64(ed25519PublicKey(seedOf(name)));
    const validator = {
      pubkey: { "@type": "/cosmos.crypto.ed25519.PubKey", key },
      amount: name === "second" ? "7654321stake" : "50000003stake",
      moniker: name,
      "commission-rate": rate,
      "commission-max-rate": "0.2",
      "commission-max-change-rate": "0.01",
      "min-self-delegation": "1",
    };
    writeFileSync(path, JSON.stringify(validator));
    await chain.tx("staking", "create-validator", path, "--from", name, ...FEE.slice(0, -1));
    operators.push(encodeAddress(decodeAddress(chain.address(name)), "valoper"));
  }

  /** Mostly something that can be done: of validators that the account has delegated to. */
  async function operation(random: Random, name: string): Promise<string[]> {
    const pick = <T>(list: readonly T[]): T => list[random.int(list.length)] as T;
    const coins = (most: number) => `${1 + random.int(most)}stake`;
    const held = delegated.get(name) ?? [];
    const kind = held.length === 0 ? 0 : random.int(12);
    const [one, other] = [random.int(8) === 0 ? pick(operators) : pick(held), pick(operators)];
    if (kind <= 2) {
      const to = pick(operators);
      delegated.set(name, [...held, to]);
      return ["staking", "delegate", to, coins(pick([1_000, 9_999_991]))];
    }
    if (kind <= 4) return ["staking", "unbond", one, coins(pick([7, 1_333_333]))];
    if (kind <= 6) return ["staking", "redelegate", one, other, coins(pick([3, 1_222_221]))];
    if (kind === 7) return ["distribution", "withdraw-rewards", one];
    if (kind === 8 && name === "validator")
      return ["distribution", "withdraw-rewards", chain.validator, "--commission"];
    if (kind === 8) return ["distribution", "set-withdraw-addr", chain.address(pick(DELEGATORS))];
    if (kind === 9) return ["distribution", "fund-community-pool", coins(12_345)];
    if (kind === 10 && OPERATORS.includes(name)) return ["slashing", "unjail"];
    return cancel(name);
  }

  /** Cancels a part of the last unbonding. */
  async function cancel(name: string): Promise<string[]> {
    const path = `staking/v1beta1/delegators/${chain.address(name)}/unbonding_delegations`;
    const [found] = (await chain.rest(path)).unbonding_responses;
    const entry = found?.entries.at(-1);
    if (entry === undefined) return ["distribution", "fund-community-pool", "11stake"];
    const amount = `${BigInt(entry.balance) / 2n + 1n}stake`;
    return ["staking", "cancel-unbond", found.validator_address, amount, entry.creation_height];
  }

  /** Our application at the genesis of the reference, its first validator as state instead of a transaction. */
  function replayed(): SvcApplication {
    const genesis = JSON.parse(readFileSync(join(chain.home, "config", "genesis.json"), "utf8"));
    const made = createApp({ database: memoryDatabase(), checkInvariants: true });
    made.initChain({
      chainId: chain.chainId,
      time: time(genesis.genesis_time),
      initialHeight: 1n,
      validators: [],
      consensusParams: DEFAULT_CONSENSUS_PARAMS,
      appState: ourGenesis(genesis, chain.address("validator"), []),
    });
    return made;
  }

  async function runBlock(height: number): Promise<void> {
    const { txs, time, proposer, votes, misbehavior, codes, events } = await theirBlock(height);
    const lastCommit = { round: 0, votes };
    const ours = app.finalizeBlock({
      ...NO_VOTERS,
      height: BigInt(height),
      hash: new Uint8Array(32),
      ...{ lastCommit, txs, time, proposer, misbehavior },
    });
    app.commit();
    const failed = ours.txResults.map(({ code }, i) =>
      (code === 0) === (codes[i] === 0) ? "" : ours.txResults[i]?.log,
    );
    if (failed.some((text) => text !== "")) differences.push(`block ${height}: results ${failed.join(" | ")}`);
    const good = ours.txResults.filter(({ code }) => code === 0).flatMap((result) => result.events);
    operations += txs.length;
    for (const { type, attributes } of events) {
      const reason = attributes.find(({ key }) => key === "reason")?.value ?? "";
      for (const name of [type, reason]) seen.set(name, (seen.get(name) ?? 0) + 1);
    }
    const [a, b] = [told([...ours.events, ...good]), told(events)];
    if (a.join("\n") !== b.join("\n")) {
      const only = (list: string[], other: string[]) => list.filter((line) => !other.includes(line)).slice(0, 5);
      differences.push(`block ${height}: ours ${only(a, b).join("; ")}, theirs ${only(b, a).join("; ")}`);
    }
  }

  async function theirBlock(height: number): Promise<TheirBlock> {
    const { block } = await rpc(`block?height=${height}`);
    const results = await rpc(`block_results?height=${height}`);
    const sets = height === 1 ? [] : (await rpc(`validators?height=${height - 1}&per_page=100`)).validators;
    const votes = sets.map((row: { address: string; voting_power: string }, i: number) => ({
      flag: block.last_commit.signatures[i].block_id_flag,
      validator: { address: fromHex(row.address.toLowerCase()), power: BigInt(row.voting_power) },
    }));
    const found = results.txs_results ?? [];
    const good = found.filter(({ code }: { code: number }) => code === 0);
    return {
      txs: block.data.txs.map((tx: string) => Uint8Array.from(Buffer.from(tx, "base64"))),
      time: time(block.header.time),
      proposer: fromHex(block.header.proposer_address.toLowerCase()),
      votes,
      misbehavior: block.evidence.evidence.map(misbehaviorOf),
      codes: found.map(({ code }: { code: number }) => code),
      events: [...results.finalize_block_events, ...good.flatMap((each: { events: Told[] }) => each.events)],
    };
  }

  async function rpc(path: string) {
    const response = await fetch(`${chain.url.replace("tcp:", "http:")}/${path}`);
    const { result } = (await response.json()) as { result: ReturnType<typeof JSON.parse> };
    return result;
  }

  /** One line for each event that both report, sorted: begin-block items come in another order. */
  function told(events: readonly Told[]): string[] {
    const shown = events.filter(({ type }) => EVENTS.includes(type));
    const lines = shown.map(({ type, attributes }) => {
      const own = attributes.filter(({ key }) => key !== "msg_index" && key !== "mode");
      return `${type} ${own.map(({ key, value }) => `${key}=${value}`).join(" ")}`;
    });
    return lines.sort();
  }

  function ask<M extends DescMethod>(method: M, request: MessageInitShape<M["input"]>) {
    const data = encodeMessage(method.input, create(method.input, request));
    const path = methodPath(method).replace("/sdk.", "/cosmos.");
    const answer = app.query({ path, data, height: 0n, prove: false });
    if (answer.code !== 0) throw new Error(answer.log);
    return toJson(method.output, decodeMessage(method.output, answer.value), { namespace: "cosmos" });
  }

  const everybody = () => [...DELEGATORS, ...OPERATORS, LIAR, "validator"].map((name) => chain.address(name));
  const limit = { limit: 100n, countTotal: true };
  const page = "pagination.limit=100&pagination.count_total=true";

  test("every block has the same results and events", () => {
    expect(differences).toEqual([]);
    console.log(`${operations} transactions in ${last} blocks:`, Object.fromEntries(seen));
    const wanted = [...EVENTS.slice(0, -6), "liveness", "slash", "missing_signature", "double_sign"];
    expect(wanted.filter((type) => ROUNDS >= 30 && !seen.has(type))).toEqual([]);
  });

  test("validators, their commissions and what they are owed", async () => {
    const theirs = await chain.rest(`staking/v1beta1/validators?${page}`, last);
    expect(ask(Staking.method.validators, { pagination: limit })).toEqual(theirs);
    expect(ask(Staking.method.pool, {})).toEqual(await chain.rest("staking/v1beta1/pool", last));
    for (const validatorAddress of operators) {
      const path = `distribution/v1beta1/validators/${validatorAddress}`;
      const outstanding = await chain.rest(`${path}/outstanding_rewards`, last);
      expect(ask(Distribution.method.validatorOutstandingRewards, { validatorAddress })).toEqual(outstanding);
      const commission = await chain.rest(`${path}/commission`, last);
      expect(ask(Distribution.method.validatorCommission, { validatorAddress })).toEqual(commission);
    }
    const infos = await chain.rest(`slashing/v1beta1/signing_infos?${page}`, last);
    expect(ask(Slashing.method.signingInfos, { pagination: limit })).toEqual(infos);
  });

  test("who voted twice, and can never vote again", async () => {
    const evidence = await chain.rest(`evidence/v1beta1/evidence?${page}`, last);
    expect(plain(ask(Evidence.method.allEvidence, { pagination: limit }))).toEqual(plain(evidence));
    const { info } = await chain.rest(`slashing/v1beta1/signing_infos?${page}`, last);
    const gone = info.filter(({ tombstoned }: { tombstoned: boolean }) => tombstoned);
    expect(gone.map(({ address }: { address: string }) => address)).toEqual([
      encodeAddress(consensusAddress(ed25519PublicKey(seedOf(LIAR))), "valcons"),
    ]);
  });

  test("balances, delegations, unbondings, redelegations and rewards of everybody", async () => {
    for (const address of everybody()) {
      const coins = await chain.rest(`bank/v1beta1/balances/${address}?${page}`, last);
      expect(ask(Bank.method.allBalances, { address, pagination: limit })).toEqual(coins);
      const asked = { delegatorAddr: address, pagination: limit };
      const delegations = await chain.rest(`staking/v1beta1/delegations/${address}?${page}`, last);
      expect(ask(Staking.method.delegatorDelegations, asked)).toEqual(delegations);
      const at = `staking/v1beta1/delegators/${address}`;
      const unbondings = await chain.rest(`${at}/unbonding_delegations?${page}`, last);
      expect(ask(Staking.method.delegatorUnbondingDelegations, asked)).toEqual(unbondings);
      const redelegations = await chain.rest(`${at}/redelegations?${page}`, last);
      expect(plain(ask(Staking.method.redelegations, asked))).toEqual(plain(redelegations));
      const rewards = await chain.rest(`distribution/v1beta1/delegators/${address}/rewards`, last);
      expect(ask(Distribution.method.delegationTotalRewards, { delegatorAddress: address })).toEqual(rewards);
    }
  });

  test("the community pool and what is minted", async () => {
    expect(ask(Distribution.method.communityPool, {})).toEqual(
      await chain.rest("distribution/v1beta1/community_pool", last),
    );
    expect(ask(Mint.method.inflation, {})).toEqual(await chain.rest("mint/v1beta1/inflation", last));
    expect(ask(Mint.method.annualProvisions, {})).toEqual(await chain.rest("mint/v1beta1/annual_provisions", last));
  });
});

/** Seed of the key that signs for a validator. */
function seedOf(name: string): Uint8Array {
  return Uint8Array.from(sha256(toUtf8(`${name} ${SEED}`)));
}

function time(text: string): bigint {
  const parsed = parseTimestamp(text);
  if (parsed === undefined) throw new Error(`${text} is not a time`);
  return toNanos(parsed);
}

/** The reference writes redelegations in its own form: numbers as numbers, null for an empty list, no zeros at the end. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === "number") return value.toString();
  if (typeof value === "string") return value.replace(/(T[\d:]+\.\d*?)0+Z$/, "$1Z").replace(/\.Z$/, "Z");
  if (typeof value !== "object" || value === null) return value ?? [];
  const fields = Object.entries(value).filter(([name]) => name !== "unbonding_on_hold_ref_count");
  return Object.fromEntries(fields.map(([name, field]) => [name, plain(field)]));
}
