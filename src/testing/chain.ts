import { create, type DescMethod, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import {
  type ConsensusParams,
  DEFAULT_CONSENSUS_PARAMS,
  type Misbehavior,
  NO_VOTERS,
  type TxResult,
  type ValidatorUpdate,
} from "../abci/index.ts";
import {
  type BaseKeepers,
  CONSENSUS,
  createApp,
  moduleSet,
  type SvcApplication,
  standardModules,
  withoutRecords,
} from "../app/index.ts";
import { readRefusal } from "../client/index.ts";
import type { BlockProblem, Module } from "../runtime/index.ts";
import { copyMemoryDatabase, type Database, memoryDatabase } from "../store/index.ts";
import { assert, equalBytes, NATIVE_DENOM, parseDecCoins, SvcError } from "../util/index.ts";
import { Query as AuthQuery } from "../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { Query as BankQuery } from "../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { decodeMessage, encodeMessage, isObject, type JsonObject, methodPath, toJson } from "../wire/index.ts";
import { type TestKey, testKey } from "./keys.ts";
import { type SentTx, sentTx } from "./sent.ts";
import { signTx, type TestMessage, type TxSettings } from "./signed.ts";
import { TestVoters } from "./voters.ts";

/** Initial state of a chain in memory. */
export interface TestChainOptions {
  /** Names of the accounts that have coins from the start; `alice`, `bob`, `carol`, `dave` unless given. */
  readonly accounts?: readonly string[];
  /** Balance of each account, by denomination; 10^12 `utoken` unless given. */
  readonly coins?: Readonly<Record<string, bigint>>;
  /** Modules besides accounts and transfers, instead of those of the real chain. */
  readonly modules?: (base: BaseKeepers) => readonly Module[];
  /** `app_state` of modules in proto JSON. */
  readonly genesis?: Readonly<Record<string, unknown>>;
  /** For example `0.0025utoken`; free unless given. */
  readonly minGasPrices?: string;
  /** Gas of a whole block; no limit unless given. */
  readonly maxBlockGas?: bigint;
  /** At which heights all invariants are checked; at every one unless given. */
  readonly checkedAt?: (height: bigint) => boolean;
  /** Lets failing block items pass; otherwise they fail the test. */
  readonly tolerateProblems?: boolean;
}

/** Who signs a transaction, and its settings. */
export interface SendSettings extends TxSettings {
  readonly from: TestKey;
  /** Further signers, in the order in which the messages need them. */
  readonly with?: readonly TestKey[];
}

const CHAIN_ID = "test-1";
const SECOND = 1_000_000_000n;
/** 2025-01-01T00:00:00Z. */
const START = 1_735_689_600n * SECOND;
const BLOCK_SECONDS = 6n;
const PROPOSER = new Uint8Array(20).fill(7);
const MAX_BLOCK_BYTES = 4 << 20;

/**
 * A chain in memory for tests of modules: the real application, real signatures, a block when the test says so, a
 * clock that advances six seconds per block. All invariants are checked after every block.
 */
export function testChain(options: TestChainOptions = {}): TestChain {
  return new TestChain(options);
}

/** A chain in memory; `testChain` makes one. */
export class TestChain {
  readonly chainId = CHAIN_ID;
  readonly keys: ReadonlyMap<string, TestKey>;
  /** Reported problems: failed block items, programming errors. */
  readonly problems: BlockProblem[] = [];
  /** The voters on blocks: by default all voters of staking, present. */
  readonly voters: TestVoters;
  /** Changes of the last block to the voters. */
  validatorUpdates: readonly ValidatorUpdate[] = [];
  /** Changes of the last block to the consensus parameters. */
  consensusParamUpdates: ConsensusParams | undefined;
  /** Events of the last block's begin and end. */
  blockEvents: TxResult["events"] = [];
  /** Holds the state. */
  readonly database: Database;
  readonly #options: TestChainOptions;
  readonly #open: () => SvcApplication;
  #app: SvcApplication;
  #height = 0n;
  /** Nanoseconds by which the clock is ahead of the blocks. */
  #ahead = 0n;

  constructor(options: TestChainOptions, parent?: ChainState) {
    const { modules, minGasPrices = "" } = options;
    this.#options = options;
    const text = beginningText(options);
    const begun = parent ?? BEGINNINGS.get(text);
    const database = begun === undefined ? memoryDatabase() : copyMemoryDatabase(begun.database);
    this.database = database;
    this.voters = begun?.voters.copy() ?? new TestVoters();
    this.#open = () =>
      createApp({
        database,
        set: modules === undefined ? standardModules() : moduleSet(modules),
        minGasPrices: parseDecCoins(minGasPrices),
        checkInvariants: options.checkedAt ?? true,
        report: (problem) => this.problems.push(problem),
      });
    this.#app = this.#open();
    const names = options.accounts ?? ["alice", "bob", "carol", "dave"];
    this.keys = new Map(names.map((name) => [name, testKey(name)]));
    if (begun === undefined) {
      this.#begin(options);
      if (this.problems.length === 0) remember(text, this.#state());
      return;
    }
    this.#height = begun.height;
    this.#ahead = begun.ahead;
    this.blockEvents = begun.blockEvents;
    this.validatorUpdates = begun.validatorUpdates;
    this.consensusParamUpdates = begun.consensusParamUpdates;
  }

  get app(): SvcApplication {
    return this.#app;
  }

  /** A chain that continues from the last block of this one; neither sees what the other does. */
  fork(): TestChain {
    return new TestChain(this.#options, this.#state());
  }

  /** Reopens the application on its stored state, as a restarted node does. */
  restart(): void {
    this.#app = this.#open();
  }

  /** Height of the last block. */
  get height(): bigint {
    return this.#height;
  }

  /** Time of the last block in nanoseconds. */
  get time(): bigint {
    return this.#timeAt(this.#height);
  }

  /** Lets the next block come so much later. */
  skip(nanos: bigint): void {
    this.#ahead += nanos;
  }

  /** A funded key by its name. */
  key(name: string): TestKey {
    const found = this.keys.get(name);
    assert(found !== undefined, `the test chain was made without the account ${name}`);
    return found;
  }

  /** Runs a block with these transactions; the results are in their order. */
  block(txs: readonly Uint8Array[], misbehavior: readonly Misbehavior[] = []): TxResult[] {
    this.#height += 1n;
    const { txResults, events, validatorUpdates, consensusParamUpdates } = this.app.finalizeBlock({
      ...NO_VOTERS,
      lastCommit: this.voters.commit(),
      misbehavior,
      txs,
      height: this.#height,
      time: this.#timeAt(this.#height),
      proposer: PROPOSER,
      hash: new Uint8Array(32),
    });
    this.app.commit();
    this.blockEvents = events;
    this.validatorUpdates = validatorUpdates;
    this.consensusParamUpdates = consensusParamUpdates;
    this.voters.advance(validatorUpdates);
    this.#failOnProblems();
    return [...txResults];
  }

  /** Runs empty blocks. */
  nextBlock(count = 1): void {
    for (let i = 0; i < count; i++) this.block([]);
  }

  /** Signs messages and runs them in a block of their own, through the checks of the mempool first. */
  send(messages: readonly TestMessage[] | TestMessage, settings: SendSettings): SentTx {
    const tx = this.sign(messages, settings);
    const check = this.app.checkTx({ tx, kind: "new" });
    const result = check.code === 0 ? this.block([tx])[0] : check;
    assert(result !== undefined, "a block gives a result for each transaction");
    return sentTx(result, this.#height);
  }

  /** Like `send`; throws with the text of the chain when the transaction fails. */
  mustSend(messages: readonly TestMessage[] | TestMessage, settings: SendSettings): SentTx {
    const sent = this.send(messages, settings);
    if (sent.code !== 0) throw new SvcError(sent.codespace, sent.code, sent.log);
    return sent;
  }

  /** The signed bytes of a transaction, with account numbers and sequences of the last block. */
  sign(
    messages: readonly TestMessage[] | TestMessage,
    { from, with: others = [], ...settings }: SendSettings,
  ): Uint8Array {
    const list = Array.isArray(messages) ? messages : [messages];
    const signers = [from, ...others].map((key) => ({ key, ...this.account(key.address) }));
    return signTx(CHAIN_ID, list, signers, settings);
  }

  /** Sends a query as clients do, in its encoded form. Throws the chain's error if it refuses. */
  query<M extends DescMethod>(method: M, request: MessageInitShape<M["input"]>): MessageShape<M["output"]> {
    const data = encodeMessage(method.input, create(method.input, request));
    const answer = this.app.query({ path: methodPath(method), data, height: 0n, prove: false });
    if (answer.code !== 0) throw readRefusal(answer);
    return decodeMessage<M["output"]>(method.output, answer.value);
  }

  /** The two numbers that signatures of an account are bound to. */
  account(address: string): { readonly accountNumber: bigint; readonly sequence: bigint } {
    const { info } = this.query(AuthQuery.method.accountInfo, { address });
    assert(info !== undefined, `the chain tells what the account ${address} has`);
    return { accountNumber: info.accountNumber, sequence: info.sequence };
  }

  /** Balance of an address (bech32), of the chain's own token unless a denomination is given. */
  balance(address: string, denom: string = NATIVE_DENOM): bigint {
    return BigInt(this.query(BankQuery.method.balance, { address, denom }).balance?.amount ?? "0");
  }

  /**
   * Exports the state, continues with it on a new chain and exports again after a block: the two `app_state`s. The imported
   * state must have the same hash.
   */
  exportTwice(
    again: SvcApplication = createApp({ database: memoryDatabase(), checkInvariants: true }),
  ): readonly [object, object] {
    const first = this.app.exportGenesis();
    const height = this.#height + 1n;
    const time = this.#timeAt(height);
    const genesis = {
      consensusParams: this.app.consensusParams ?? DEFAULT_CONSENSUS_PARAMS,
      chainId: CHAIN_ID,
      time,
      initialHeight: height,
      validators: [],
      appState: first,
    };
    const { appHash } = again.initChain(genesis);
    assert(equalBytes(appHash, this.hashOfModules()), "the imported state has the hash of the exported one");
    again.finalizeBlock({ ...NO_VOTERS, txs: [], height, time, proposer: PROPOSER, hash: new Uint8Array(32) });
    again.commit();
    return [first, again.exportGenesis()];
  }

  /** The app hash without the record of the last block, which a genesis does not have. */
  hashOfModules(): Uint8Array {
    const { state } = this.app;
    const branch = state.branch();
    withoutRecords(branch.store(CONSENSUS));
    const prepared = state.workingHash(branch);
    state.release(prepared);
    return prepared.appHash;
  }

  /** The transactions that a proposer would put in the next block. */
  propose(txs: readonly Uint8Array[], maxBytes = MAX_BLOCK_BYTES): readonly Uint8Array[] {
    const height = this.#height + 1n;
    return this.app.prepareProposal({
      ...NO_VOTERS,
      txs,
      maxBytes,
      height,
      time: this.#timeAt(height),
      proposer: PROPOSER,
    });
  }

  /** Genesis and the first block. */
  #begin({ coins, genesis, maxBlockGas = -1n }: TestChainOptions): void {
    const appState = { ...quiet(this.app.modules), bank: bankState([...this.keys.values()], coins) };
    const { block } = DEFAULT_CONSENSUS_PARAMS;
    const { validators } = this.app.initChain({
      chainId: CHAIN_ID,
      time: START,
      initialHeight: 1n,
      validators: [],
      consensusParams: { ...DEFAULT_CONSENSUS_PARAMS, block: { ...block, maxGas: maxBlockGas } },
      appState: { ...appState, ...genesis },
    });
    this.voters.begin(validators);
    this.nextBlock();
  }

  #timeAt(height: bigint): bigint {
    return timeAt(height) + this.#ahead;
  }

  #state(): ChainState {
    const { height, blockEvents, validatorUpdates, consensusParamUpdates } = this;
    const [database, voters] = [copyMemoryDatabase(this.database), this.voters.copy()];
    return { height, ahead: this.#ahead, database, voters, blockEvents, validatorUpdates, consensusParamUpdates };
  }

  #failOnProblems(): void {
    const [first] = this.problems;
    if (first === undefined || this.#options.tolerateProblems === true) return;
    throw new Error(`${first.item} failed at height ${first.height}`, { cause: first.error });
  }
}

/** State of a chain from which another one continues. */
type ChainState = Pick<
  TestChain,
  "height" | "database" | "voters" | "blockEvents" | "validatorUpdates" | "consensusParamUpdates"
> & { readonly ahead: bigint };

/** Chains after their first block, by the words that they began with. */
const BEGINNINGS = new Map<string, ChainState>();
const MAX_BEGINNINGS = 32;
const MAX_BEGINNING_TEXT = 65_536;

/** Inputs of the state after the first block, as text; empty with custom modules, which are functions. */
function beginningText({ accounts, coins, genesis, maxBlockGas, modules }: TestChainOptions): string {
  if (modules !== undefined) return "";
  const text = (_: string, value: unknown) => (typeof value === "bigint" ? `${value}n` : value);
  return JSON.stringify([accounts, coins, genesis, maxBlockGas], text);
}

/** Keeps how a chain began, which costs as much as ten of its blocks; the oldest goes when there are too many. */
function remember(text: string, state: ChainState): void {
  if (text === "" || text.length > MAX_BEGINNING_TEXT) return;
  const [oldest] = BEGINNINGS.keys();
  if (oldest !== undefined && BEGINNINGS.size >= MAX_BEGINNINGS) BEGINNINGS.delete(oldest);
  BEGINNINGS.set(text, state);
}

/** Turns off what changes the state in every block, so that tests see only their own changes. */
function quiet(modules: readonly Module[]): Record<string, unknown> {
  const none = "0.000000000000000000";
  const quieter: Readonly<Record<string, JsonObject>> = {
    staking: { historical_entries: 0 },
    mint: { inflation_rate_change: none, inflation_max: none, inflation_min: none },
  };
  return Object.fromEntries(
    modules.flatMap(({ name, genesis }) => {
      const change = quieter[name];
      const state = toJson(genesis.schema, genesis.defaults());
      if (change === undefined || !isObject(state) || !isObject(state.params)) return [];
      return [[name, { ...state, params: { ...state.params, ...change } }]];
    }),
  );
}

function timeAt(height: bigint): bigint {
  return START + height * BLOCK_SECONDS * SECOND;
}

function bankState(keys: readonly TestKey[], coins: Readonly<Record<string, bigint>> = { [NATIVE_DENOM]: 10n ** 12n }) {
  const held = Object.entries(coins)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([denom, amount]) => ({ denom, amount: amount.toString() }));
  return {
    params: { default_send_enabled: true },
    balances: keys.map(({ address }) => ({ address, coins: held })),
  };
}
