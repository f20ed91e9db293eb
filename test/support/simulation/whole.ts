import type { DescMethod, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { Misbehavior, TxResult } from "../../../src/abci/index.ts";
import { consensusAddress } from "../../../src/crypto/index.ts";
import { InvariantBreach } from "../../../src/runtime/index.ts";
import { type TestChain, type TestKey, testChain, testKey } from "../../../src/testing/index.ts";
import { NATIVE_DENOM, toHex } from "../../../src/util/index.ts";
import { Query as GovQuery } from "../../../src/wire/gen/sdk/gov/v1/query_pb.js";
import { Query as SlashingQuery } from "../../../src/wire/gen/sdk/slashing/v1beta1/query_pb.js";
import { encodeAddress } from "../../../src/wire/index.ts";
import { consensusKey } from "../chain/index.ts";
import { govOperations } from "./gov.ts";
import { grantOperations, payerFor } from "./grants.ts";
import { type MarketSimulation, marketOperations } from "./market.ts";
import { pickOperation, type SimAction, type SimOperation, type SimRandom, simRandom } from "./operation.ts";
import { chosenGenesis } from "./parameters.ts";
import { registryOperations } from "./registry.ts";
import { stakeOperations } from "./stake.ts";
import { type VestingSimulation, vestingOperations } from "./vesting.ts";

/** Shared view of the operations of all modules. */
interface WholeSimulation extends MarketSimulation, VestingSimulation {
  /** Grows when heirs get their accounts, changes with the operators. */
  readonly holders: TestKey[];
  readonly operators: TestKey[];
  readonly retired: TestKey[];
  /** Accounts that become operators when one must go for good. */
  readonly reserve: TestKey[];
}

/** Everything that people do on the chain. */
export const wholeOperations: readonly SimOperation<WholeSimulation>[] = [
  ...marketOperations,
  ...registryOperations,
  ...stakeOperations,
  ...govOperations,
  ...grantOperations,
  ...vestingOperations,
];

const names = (letter: string, count: number) => Array.from({ length: count }, (_, i) => `${letter}${i}`);
const OPERATORS = names("o", 5);
const RESERVE = names("r", 60);
/** Validators that can no longer sign, and which people leave; little is left of older ones. */
const MAX_RETIRED = 3;
const TENANTS = names("t", 24);
const PROVIDERS = names("p", 20);
const HOLDERS = names("h", 30);
/** Accounts that have nothing at first, and may become accounts with locked coins. */
const HEIRS = names("v", 24);
/**
 * Together with the other limits, this keeps the state as large after a million operations as after twenty thousand.
 */
const MAX_DEPLOYMENTS = 3;
const MESSAGES_A_BLOCK = 400;
/** Most transactions have one message, so that most are not undone by the failure of another. */
const MESSAGES_A_TX = [1, 1, 1, 1, 2, 4] as const;
const BLOCKS_BETWEEN_IMPORTS = 400;
const BLOCKS_BETWEEN_RESTARTS = 150;
/**
 * Invariants read the whole state: they run after each of the first blocks, then after every fourth, and at the end.
 */
const CHECKED_BLOCKS = 200n;
const BLOCKS_BETWEEN_CHECKS = 4n;

export interface WholeRequest {
  readonly seed: number;
  /** Messages in all; the last block may bring some more. */
  readonly operations: number;
  /** Receives the progress of the run after every block. */
  readonly observe?: (progress: WholeProgress) => void;
}

/** The progress of a run. */
export interface WholeProgress {
  readonly chain: TestChain;
  /** Messages so far. */
  readonly operations: number;
  /** How often each `operation: codespace/code` occurred, and each type of event at the ends of blocks. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** Names of the successful messages, including messages of passed proposals. */
  readonly messages: ReadonlySet<string>;
}

/**
 * Random operations of people, faults of validators, restarts and exports, on a chain with random parameters, whose
 * invariants are checked throughout.
 */
export function simulateWhole({ seed, operations, observe }: WholeRequest): WholeProgress {
  const random = simRandom(seed);
  const chain = wholeChain(random);
  const sim = worldOf(chain, random);
  const outcomes = new Map<string, number>();
  const messages = new Set<string>();
  let done = 0;
  for (let block = 1; done < operations; block++) {
    const planned = plan(sim, Math.min(1 + random.int(MESSAGES_A_BLOCK), operations));
    if (random.int(6) === 0) toggleAbsence(chain, sim);
    const misbehavior = random.int(100) === 0 ? [doubleSign(chain, sim)] : [];
    const results = chain.block(
      planned.map(({ messages, operations: _, ...settings }) => chain.sign(messages, settings)),
      misbehavior,
    );
    inherit(sim, chain, { planned, results });
    if (misbehavior.length > 0) replace(sim);
    count(outcomes, chain, { planned, results });
    for (const name of succeeded(chain, { planned, results })) messages.add(name);
    done += planned.reduce((sum, { messages }) => sum + messages.length, 0);
    if (random.int(BLOCKS_BETWEEN_RESTARTS) === 0) chain.restart();
    if (block % BLOCKS_BETWEEN_IMPORTS === 0) chain.exportTwice();
    observe?.({ chain, operations: done, outcomes, messages });
  }
  holdInvariants(chain);
  return { chain, operations: done, outcomes, messages };
}

function holdInvariants({ app, height }: TestChain): void {
  const broken = app.brokenInvariants();
  if (broken.length > 0) throw new InvariantBreach(height, broken);
}

interface PlannedTx {
  readonly from: TestKey;
  readonly operations: string[];
  readonly messages: SimAction["message"][];
  readonly fee: readonly { readonly denom: string; readonly amount: bigint }[];
  /** The account that pays the fee instead of the signer. */
  readonly granter?: string;
}

/** Up to `count` messages, in transactions of their signers. */
function plan(sim: WholeSimulation, count: number): PlannedTx[] {
  const { random } = sim;
  const keys = new Map(sim.holders.map((key) => [key.address, key]));
  const planned = new Map<string, PlannedTx>();
  for (let i = 0; i < count; i++) {
    const operation = pickOperation(wholeOperations, random);
    const action = operation?.build(sim);
    const from = keys.get(action?.signer ?? "");
    if (operation === undefined || action === undefined || from === undefined) continue;
    const fee = [{ denom: NATIVE_DENOM, amount: BigInt(1 + random.int(5000)) }];
    const granter = random.int(6) === 0 ? payerFor(sim, action.signer) : undefined;
    const made = { from, operations: [], messages: [], fee, ...(granter === undefined ? {} : { granter }) };
    const tx: PlannedTx = planned.get(action.signer) ?? made;
    if (tx.messages.length >= random.pick(MESSAGES_A_TX)) continue;
    tx.operations.push(operation.name);
    tx.messages.push(action.message);
    planned.set(action.signer, tx);
  }
  return [...planned.values()];
}

interface Happened {
  readonly planned: readonly PlannedTx[];
  readonly results: readonly TxResult[];
}

/** Heirs who got an account act from now on like all holders of coins. */
function inherit(sim: WholeSimulation, chain: TestChain, { planned, results }: Happened): void {
  const names = vestingOperations.map(({ name }) => name);
  const isNew = planned.some(
    ({ operations }, i) => results[i]?.code === 0 && operations.some((each) => names.includes(each)),
  );
  if (!isNew) return;
  const known = new Set(sim.holders);
  for (const heir of sim.heirs) if (!known.has(heir) && hasAccount(chain, heir)) sim.holders.push(heir);
}

function hasAccount(chain: TestChain, { address }: TestKey): boolean {
  return chain.balance(address) > 0n;
}

function count(outcomes: Map<string, number>, chain: TestChain, { planned, results }: Happened): void {
  const add = (key: string) => outcomes.set(key, (outcomes.get(key) ?? 0) + 1);
  planned.forEach(({ operations }, i) => {
    const { codespace, code } = results[i] ?? { codespace: "", code: -1 };
    for (const name of operations) add(`${name}: ${code === 0 ? "done" : `${codespace}/${code}`}`);
  });
  for (const { type } of chain.blockEvents) add(type);
}

function succeeded(chain: TestChain, { planned, results }: Happened): string[] {
  const sent = planned.flatMap(({ messages }, i) => (results[i]?.code === 0 ? messages : []));
  const passed = chain.blockEvents.flatMap(({ type, attributes }) => {
    const told = new Map(attributes.map(({ key, value }) => [key, value]));
    const isPassed = type === "active_proposal" && told.get("proposal_result") === "proposal_passed";
    return isPassed ? [BigInt(told.get("proposal_id") ?? 0)] : [];
  });
  const carried = passed.flatMap((proposalId) => {
    const { proposal } = chain.query(GovQuery.method.proposal, { proposalId });
    return proposal?.messages.map(({ typeUrl }) => typeUrl.slice(1)) ?? [];
  });
  return [...sent.map(({ $typeName }) => $typeName), ...carried];
}

function worldOf(chain: TestChain, random: SimRandom): WholeSimulation {
  const keys = (list: readonly string[]) => list.map((name) => chain.key(name));
  const addresses = (list: readonly string[]) => keys(list).map(({ address }) => address);
  return {
    random,
    tenants: addresses(TENANTS),
    providers: addresses(PROVIDERS),
    maxDeployments: MAX_DEPLOYMENTS,
    operators: keys(OPERATORS),
    retired: [],
    reserve: keys(RESERVE),
    holders: [...chain.keys.values()].filter(({ name }) => !RESERVE.includes(name)),
    heirs: HEIRS.map(testKey),
    height: () => chain.height,
    time: () => chain.time,
    query: rememberingQuery(chain),
  };
}

/** Queries of the chain; a query repeated since the last block is not asked again. */
function rememberingQuery(chain: TestChain): WholeSimulation["query"] {
  let height = 0n;
  const answers = new Map<string, unknown>();
  return <M extends DescMethod>(method: M, request: MessageInitShape<M["input"]>): MessageShape<M["output"]> => {
    if (height !== chain.height) answers.clear();
    height = chain.height;
    const asked = JSON.stringify(request, (_, value) => (typeof value === "bigint" ? `${value}n` : value));
    const key = `${method.parent.typeName}/${method.name} ${asked}`;
    if (!answers.has(key)) answers.set(key, chain.query(method, request));
    return answers.get(key) as MessageShape<M["output"]>;
  };
}

function wholeChain(random: SimRandom): TestChain {
  return testChain({
    checkedAt: (height) => height <= CHECKED_BLOCKS || height % BLOCKS_BETWEEN_CHECKS === 0n,
    accounts: [...OPERATORS, ...RESERVE, ...TENANTS, ...PROVIDERS, ...HOLDERS],
    genesis: chosenGenesis(random),
  });
}

/** An operator whose key may no longer sign gives way to the next. */
function replace(sim: WholeSimulation): void {
  const { operators, retired, reserve, holders } = sim;
  const gone = operators.find((key) => isTombstoned(sim, key));
  const next = gone === undefined ? undefined : reserve.shift();
  if (gone === undefined || next === undefined) return;
  operators.splice(operators.indexOf(gone), 1, next);
  holders.push(next);
  retired.push(gone);
  const oldest = retired.length > MAX_RETIRED ? retired.shift() : undefined;
  if (oldest !== undefined) holders.splice(holders.indexOf(oldest), 1);
}

function isTombstoned({ query }: WholeSimulation, { name }: TestKey): boolean {
  const { info } = query(SlashingQuery.method.signingInfos, {});
  const address = encodeAddress(consensusAddress(consensusKey(name)), "valcons");
  return info.some((each) => each.tombstoned && each.address === address);
}

function toggleAbsence(chain: TestChain, { random, operators }: WholeSimulation): void {
  const id = toHex(consensusKey(random.pick(operators)?.name ?? ""));
  if (!chain.voters.absent.delete(id)) chain.voters.absent.add(id);
}

function doubleSign(chain: TestChain, { random, operators }: WholeSimulation): Misbehavior {
  const address = consensusAddress(consensusKey(random.pick(operators)?.name ?? ""));
  const height = chain.height - BigInt(random.int(5));
  return {
    kind: "duplicateVote",
    validator: { address, power: BigInt(1 + random.int(500)) },
    height: height < 1n ? 1n : height,
    time: chain.time,
    totalVotingPower: 1_000n,
  };
}
