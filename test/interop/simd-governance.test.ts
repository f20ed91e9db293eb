import type { DescMethod, MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { publicKeyOf, signSecp256k1 } from "../../src/crypto/index.ts";
import { type TestKey, testKey } from "../../src/testing/index.ts";
import { fromHex, isRecord } from "../../src/util/index.ts";
import { Query as Authz } from "../../src/wire/gen/sdk/authz/v1beta1/query_pb.js";
import { Query as Bank } from "../../src/wire/gen/sdk/bank/v1beta1/query_pb.js";
import { Query as Distribution } from "../../src/wire/gen/sdk/distribution/v1beta1/query_pb.js";
import { Query as Feegrant } from "../../src/wire/gen/sdk/feegrant/v1beta1/query_pb.js";
import { ProposalStatus } from "../../src/wire/gen/sdk/gov/v1/gov_pb.js";
import { Query as Gov } from "../../src/wire/gen/sdk/gov/v1/query_pb.js";
import { Query as Slashing } from "../../src/wire/gen/sdk/slashing/v1beta1/query_pb.js";
import { Query as Staking } from "../../src/wire/gen/sdk/staking/v1beta1/query_pb.js";
import { MsgDelegateSchema } from "../../src/wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { encodeAddress, type PublicKey, publicKeyAddress } from "../../src/wire/index.ts";
import { operatorAddress } from "../support/chain/index.ts";
import { simRandom } from "../support/simulation/operation.ts";
import { buildPeer, Peer } from "./peers.ts";
import { type SimdChain, startSimdChain } from "./simd-chain.ts";
import { becomeValidator, GOV, type GovernedState, KIND_NAMES, planned, unjail } from "./simd-governance.ts";
import { addAccounts, type Outcome, Replay, type TheirBlock, TheirNode, type Told, theirs } from "./simd-replay.ts";

/**
 * Random proposals, deposits, votes, grants, allowances and locked coins on a chain of the reference, while delegations
 * move and validators are jailed; its blocks then run through our application. Everything that the two report must
 * agree to the last digit.
 */

/** Rounds of up to seven transactions; a run draws the same with its seed, as far as its blocks come at the same times. */
const ROUNDS = Number(process.env.GOV_DIFF_ROUNDS ?? 20);
const SEED = Number(process.env.GOV_DIFF_SEED ?? 11);
/** From this many rounds on everything possible happens; with fewer it depends on when blocks come. */
const ENOUGH_FOR_ALL = 300;

const built = await buildPeer("simd53");
const missing = built instanceof Peer ? "" : built.missing;

test.skipIf(missing !== "" && process.env.CI !== "true")(
  missing === "" ? "the reference tool is there" : `no reference tool, proposals are not compared with it: ${missing}`,
  () => expect(missing).toBe(""),
);

const HOLDERS = ["a", "b", "c", "d", "e"].map((name) => testKey(`gov ${name}`));
/** Most of whose coins are locked: evenly freed, in periods, at one time and never. */
const LOCKED = ["even", "steps", "late", "never"].map((name) => testKey(name));
const IDLE = testKey("gov idle");
const BONDED = { denom: "stake", amount: "20000000000" };

/** Events that both report; the others belong to fees, messages and modules that only one side has. */
const EVENTS = [
  ...[
    "submit_proposal",
    "proposal_deposit",
    "proposal_vote",
    "cancel_proposal",
    "active_proposal",
    "inactive_proposal",
  ],
  ...["delegate", "unbond", "redelegate", "withdraw_rewards", "complete_unbonding", "complete_redelegation"],
  ...["mint", "commission", "rewards", "liveness", "slash", "burn", "coinbase"],
  ...["set_feegrant", "use_feegrant", "update_feegrant", "revoke_feegrant"],
  ...["cosmos.authz.v1beta1.EventGrant", "cosmos.authz.v1beta1.EventRevoke"],
];
/** The reference reports two unbondings that were begun in one block twice, the second time with no amount. */
const EMPTY = /^complete_unbonding amount= /;
const STAKED = /\.(staking|distribution|slashing|gov)\./;
/** That happen in every run. */
const ALWAYS = ["submit_proposal", "proposal_deposit", "proposal_vote", "liveness", "slash", "set_feegrant"];

/** Refusals that say the same with another number, ours first; `docs/decisions/reference-differences.md` says why. */
const SAME: readonly (readonly [string, string])[] = [
  ["gov/2", "undefined/1"],
  ["distribution/5", "staking/19"],
];

describe.skipIf(!(built instanceof Peer))("random proposals on a chain of the reference, and on ours", () => {
  let chain: SimdChain;
  let node: TheirNode;
  let replay: Replay;
  let last = 0;
  let validatorKey: TestKey;
  const operators: string[] = [];
  const heirs: string[] = [];
  const differences: string[] = [];
  const seen = new Map<string, number>();
  const done = new Map<string, number>();
  let operations = 0;
  /** Messages of the commands of staking, rewards, penalties and proposals. */
  let staked = 0;

  beforeAll(async () => {
    if (!(built instanceof Peer)) return;
    console.log(`proposals against the reference: seed ${SEED}, ${ROUNDS} rounds`);
    chain = await startSimdChain(built, {
      prefix: "svc",
      unbondingSeconds: 6,
      changeGenesis: shorten,
      finishGenesis: jailShortly,
    });
    node = new TheirNode(chain);
    validatorKey = keyOf(await chain.run(["keys", "export", "validator", "--unarmored-hex", "--unsafe"], "y\n"));
    operators.push(chain.validator, operatorAddress(IDLE));
    await begin();
    await operate();
    await chain.blocks(3);
    last = await chain.height();
    replay = new Replay(chain, ["gov"]);
    for (let height = 1; height <= last; height++) await runBlock(height);
  }, 900_000);
  afterAll(() => chain?.stop());

  /** Everything is short: votes of seconds, a window of twelve blocks. */
  function shorten(genesis: Parameters<typeof addAccounts>[0]): void {
    const state = genesis.app_state as Record<string, { params: Record<string, unknown> }>;
    Object.assign(state.gov?.params ?? {}, {
      min_deposit: [{ denom: "stake", amount: "10000000" }],
      expedited_min_deposit: [{ denom: "stake", amount: "50000000" }],
      ...{ max_deposit_period: "3s", voting_period: "4s", expedited_voting_period: "2s" },
      ...{ min_initial_deposit_ratio: "0.010000000000000000", min_deposit_ratio: "0.010000000000000000" },
      ...{ proposal_cancel_ratio: "0.333333333333333333", burn_vote_veto: true },
    });
    Object.assign(state.slashing?.params ?? {}, {
      ...{ signed_blocks_window: "12", min_signed_per_window: "0.500000000000000000" },
      slash_fraction_downtime: "0.012345678900000000",
    });
    const coins = [
      { denom: "stake", amount: 10n ** 12n },
      { denom: "uvec", amount: 10n ** 9n },
    ];
    addAccounts(genesis, [...HOLDERS, ...LOCKED, IDLE], coins, lockedRows());
  }

  function jailShortly({ app_state: state }: Parameters<typeof addAccounts>[0]): void {
    Object.assign((state.slashing as { params: object }).params, { downtime_jail_duration: "3s" });
  }

  /** Nearly all that they hold, within the time of the run. */
  function lockedRows(): Record<string, (base: object) => object> {
    const start = BigInt(Math.floor(Date.now() / 1_000));
    const amount = [{ denom: "stake", amount: `${10n ** 12n - 10n ** 9n}` }];
    const row = (kind: string, length: bigint, rest: object) => (base: object) => ({
      "@type": `/cosmos.vesting.v1beta1.${kind}`,
      base_vesting_account: {
        ...{ base_account: base, original_vesting: amount, delegated_free: [], delegated_vesting: [] },
        end_time: `${start + length}`,
      },
      ...rest,
    });
    const periods = [{ length: "40", amount }];
    return {
      even: row("ContinuousVestingAccount", 90n, { start_time: `${start}` }),
      steps: row("PeriodicVestingAccount", 40n, { start_time: `${start}`, vesting_periods: periods }),
      late: row("DelayedVestingAccount", 25n, {}),
      never: row("PermanentLockedAccount", -start, {}),
    };
  }

  function keyOf({ out, err }: { readonly out: string; readonly err: string }): TestKey {
    const [hex] = `${out}\n${err}`.match(/\b[0-9a-f]{64}\b/) ?? [];
    if (hex === undefined) throw new Error(`the key of the validator is not told: ${err}`);
    const privateKey = fromHex(hex);
    const publicKey: PublicKey = { type: "secp256k1", key: publicKeyOf(privateKey) };
    const bytes = publicKeyAddress(publicKey);
    const sign = (message: Uint8Array) => signSecp256k1(privateKey, message);
    return { ...{ name: "validator", privateKey, publicKey, bytes, sign }, address: encodeAddress(bytes) };
  }

  /** So much is delegated that votes of holders decide, and so little to the idle validator that blocks continue. */
  async function begin(): Promise<void> {
    const delegate = ({ address }: TestKey, validatorAddress: string | undefined) =>
      theirs(MsgDelegateSchema, {
        delegatorAddress: address,
        validatorAddress: validatorAddress ?? "",
        amount: BONDED,
      });
    await send(IDLE, "become", [becomeValidator(IDLE, 7_654_321_003n)]);
    await Promise.all([...HOLDERS, ...LOCKED].map((key) => send(key, "begin", [delegate(key, operators[0])])));
    await chain.blocks(2);
  }

  async function operate(): Promise<void> {
    const random = simRandom(SEED);
    const keys = [...HOLDERS, ...LOCKED, validatorKey];
    for (let round = 0; round < ROUNDS; round++) {
      const { proposals } = await node.read(Gov.method.proposals, { pagination: { limit: 30n, reverse: true } });
      const { params } = await node.read(Gov.method.params, { paramsType: "voting" });
      if (params === undefined) throw new Error("gov has parameters");
      const now = BigInt(Date.now()) * 1_000_000n;
      const state: GovernedState = { random, keys, operators, proposals, params, now, heirs };
      const actors = keys.filter(() => random.int(3) > 0);
      const plans = actors.map((key) => ({ key, plan: planned(state, key), payer: random.int(5) === 0 }));
      await Promise.all(
        plans.map(async ({ key, plan, payer }) => {
          if (plan === undefined) return;
          const granter = payer ? await payerOf(key) : "";
          await send(key, plan.name, plan.messages, granter);
        }),
      );
      if (random.int(4) === 0) await send(IDLE, "unjail", [unjail(IDLE)]);
      await chain.blocks(1);
    }
  }

  async function payerOf({ address }: TestKey): Promise<string> {
    const { allowances } = await node.read(Feegrant.method.allowances, { grantee: address });
    return allowances[0]?.granter ?? "";
  }

  /** Rejections before a block are not compared: they differ on each node. */
  async function send(key: TestKey, name: string, messages: Parameters<TheirNode["send"]>[1], granter = "") {
    const { code } = await node.send(key, messages, granter);
    if (code === "") operations += messages.length;
    if (code === "") staked += messages.filter(({ typeUrl }) => STAKED.test(typeUrl)).length;
    const outcome = code === "" ? "sent" : code;
    done.set(`${name}: ${outcome}`, (done.get(`${name}: ${outcome}`) ?? 0) + 1);
  }

  async function runBlock(height: number): Promise<void> {
    const block = await node.block(height);
    const ours = replay.run(height, block);
    block.outcomes.forEach((outcome, i) => {
      const own = ours.outcomes[i];
      if (own !== undefined && own.code !== "" && outcome.code !== "" && process.env.GOV_DIFF_VERBOSE !== undefined)
        console.log(
          `block ${height}: ${own.code} ${own.log.slice(0, 160)} | ${outcome.code} ${outcome.log.slice(0, 160)}`,
        );
      if (own === undefined || isSame(own, outcome)) return;
      differences.push(
        `block ${height}: ours ${own.code} ${own.log.slice(0, 300)}, theirs ${outcome.code} ${outcome.log.slice(0, 300)}`,
      );
    });
    compareEvents(height, ours.events, block);
    if (height % 25 === 0) await compareState(height);
  }

  function isSame(ours: Outcome, other: Outcome): boolean {
    // Module staking has the numbers of the documented era, with the same sentences.
    const isStaking = ours.code.startsWith("staking/") && other.code.startsWith("staking/") && ours.log === other.log;
    return ours.code === other.code || isStaking || SAME.some(([a, b]) => a === ours.code && b === other.code);
  }

  function compareEvents(height: number, own: readonly Told[], { events }: TheirBlock): void {
    for (const { type, attributes } of events) {
      seen.set(type, (seen.get(type) ?? 0) + 1);
      const result = attributes.find(({ key }) => key === "proposal_result")?.value;
      if (result !== undefined) seen.set(result, (seen.get(result) ?? 0) + 1);
    }
    const [a, b] = [told(own), told(events)];
    if (a.join("\n") === b.join("\n")) return;
    const only = (list: string[], other: string[]) => list.filter((line) => !other.includes(line)).slice(0, 5);
    differences.push(`block ${height}: ours ${only(a, b).join("; ")}, theirs ${only(b, a).join("; ")}`);
  }

  /** One line for each event that both report, sorted: items of a block come in another order. */
  function told(events: readonly Told[]): string[] {
    const named = events.map(({ type, attributes }) => ({ type: type.replace(/^sdk\./, "cosmos."), attributes }));
    const lines = named
      .filter(({ type }) => EVENTS.includes(type))
      .map(({ type, attributes }) => {
        const own = attributes.filter(({ key }) => !["msg_index", "mode", "authz_msg_index"].includes(key));
        // Ours has names of its own, also for messages that came in the reference's spelling.
        const parts = own.map(({ key, value }) => `${key}=${value.replaceAll("/sdk.", "/cosmos.")}`);
        return `${type} ${parts.sort().join(" ")}`;
      });
    return lines.filter((line) => !EMPTY.test(line)).sort();
  }

  async function compareState(height: number): Promise<void> {
    const same = async <M extends DescMethod>(method: M, request: MessageInitShape<M["input"]>) => {
      const [ours, other] = [plain(replay.ask(method, request)), plain(await node.ask(method, request, height))];
      const areRefused = typeof ours === "string" && typeof other === "string";
      if (areRefused || isAlike(ours, other)) return;
      const asked = JSON.stringify(request, (_, value) => (typeof value === "bigint" ? `${value}` : value));
      differences.push(
        `height ${height}, ${method.name} ${asked}:\n ours ${JSON.stringify(ours)}\n theirs ${JSON.stringify(other)}`,
      );
    };
    const pagination = { limit: 100n, countTotal: true };
    await same(Gov.method.proposals, { pagination });
    await same(Gov.method.params, { paramsType: "voting" });
    const open = (await node.read(Gov.method.proposals, { pagination: { limit: 60n, reverse: true } })).proposals;
    for (const { id: proposalId, status } of open) {
      if (![ProposalStatus.DEPOSIT_PERIOD, ProposalStatus.VOTING_PERIOD].includes(status) && height < last) continue;
      for (const method of [Gov.method.deposits, Gov.method.votes]) await same(method, { proposalId, pagination });
      await same(Gov.method.tallyResult, { proposalId });
    }
    await same(Staking.method.validators, { pagination });
    await same(Staking.method.pool, {});
    await same(Slashing.method.signingInfos, { pagination });
    await same(Distribution.method.communityPool, {});
    for (const validatorAddress of operators) {
      await same(Distribution.method.validatorOutstandingRewards, { validatorAddress });
      await same(Distribution.method.validatorCommission, { validatorAddress });
    }
    for (const address of [...HOLDERS, ...LOCKED, IDLE, validatorKey].map((key) => key.address).concat(heirs, GOV)) {
      await same(Bank.method.allBalances, { address, pagination });
      await same(Bank.method.spendableBalances, { address, pagination });
      const asked = { delegatorAddr: address, pagination };
      await same(Staking.method.delegatorDelegations, asked);
      await same(Staking.method.delegatorUnbondingDelegations, asked);
      await same(Distribution.method.delegationTotalRewards, { delegatorAddress: address });
      await same(Authz.method.granterGrants, { granter: address, pagination });
      await same(Feegrant.method.allowancesByGranter, { granter: address, pagination });
    }
  }

  /** Whether two answers are equal; the counts of votes up to the unit that rounding costs (docs/decisions/governance.md). */
  function isAlike(ours: unknown, theirs: unknown, name = ""): boolean {
    if (name.endsWith("_count")) return [-1n, 0n, 1n].includes(BigInt(`${ours}`) - BigInt(`${theirs}`));
    if (Array.isArray(ours) && Array.isArray(theirs))
      return ours.length === theirs.length && ours.every((each, i) => isAlike(each, theirs[i], name));
    if (!isRecord(ours) || !isRecord(theirs)) return ours === theirs;
    const names = Object.keys({ ...ours, ...theirs });
    return names.every((each) => isAlike(ours[each], theirs[each], each));
  }

  /** Times without trailing zeros, and no counter that only the reference keeps. */
  function plain(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value === "string") return value.replace(/(T[\d:]+\.\d*?)0+Z$/, "$1Z").replace(/\.Z$/, "Z");
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, plain(field)]));
  }

  test("every block has the same results and events, and the same state in between", () => {
    console.log(
      `${operations} operations, ${staked} of staking, distribution, slashing and gov, in ${last} blocks:`,
      Object.fromEntries([...seen].sort()),
    );
    if (process.env.GOV_DIFF_VERBOSE !== undefined) console.log(Object.fromEntries([...done].sort()));
    expect(differences).toEqual([]);
  });

  test("the state is the same at the end", async () => {
    differences.length = 0;
    await compareState(last);
    expect(differences).toEqual([]);
  });

  test("enough happened to compare", () => {
    if (ROUNDS < 45) return;
    expect(staked).toBeGreaterThanOrEqual(200);
    expect(ALWAYS.filter((type) => !seen.has(type))).toEqual([]);
  });

  // Part of longer runs alone.
  if (ROUNDS >= ENOUGH_FOR_ALL) {
    test("each kind of operation, of event and of an end of a vote was compared", () => {
      expect(EVENTS.filter((type) => !seen.has(type))).toEqual([]);
      const results = ["passed", "rejected", "failed", "dropped"].map((result) => `proposal_${result}`);
      expect([...results, "expedited_proposal_rejected"].filter((result) => !seen.has(result))).toEqual([]);
      expect(KIND_NAMES.filter((name) => !done.has(`${name}: sent`))).toEqual([]);
    });
  }
});
