import { DEFAULT_CONSENSUS_PARAMS, logOf, NO_VOTERS, type TxResult } from "../../src/abci/index.ts";
import { createApp, type SvcApplication } from "../../src/app/index.ts";
import { AuthKeeper } from "../../src/modules/auth/index.ts";
import { type Database, memoryDatabase } from "../../src/store/index.ts";
import { signTx, type TestKey, type TestMessage, testKey } from "../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../src/util/index.ts";
import { decodeAddress } from "../../src/wire/index.ts";

const CHAIN_ID = "gas-1";
const START = 1_735_689_600_000_000_000n;
const SECOND = 1_000_000_000n;
const PROPOSER = new Uint8Array(20);
const RICH = (10n ** 15n).toString();
/** No message of the table may be stopped by its limit. */
const AMPLE = 1_000_000_000_000n;

/** Messages of one transaction with their signers. */
export interface GasTx {
  readonly messages: readonly TestMessage[];
  readonly signers: readonly TestKey[];
  readonly gas?: bigint;
}

/** Cost of a block. */
export interface BlockCost {
  /** CPU time of the process in milliseconds. */
  readonly cpuMs: number;
  readonly gasUsed: bigint;
  readonly results: readonly TxResult[];
}

/** Denominations that the rich accounts hold beside the chain's own, for transfers of many kinds of coins. */
export const OTHER_DENOMS = Array.from({ length: 60 }, (_, i) => `coin${String(i).padStart(3, "0")}`);

export interface GasChainOptions {
  readonly database?: Database;
  /** Gas of a block; no limit unless given. */
  readonly maxGas?: bigint;
  readonly appState?: Readonly<Record<string, unknown>>;
}

/** A chain in memory without checks of invariants, whose blocks are measured. */
export class GasChain {
  #app: SvcApplication;
  readonly #database: Database;
  readonly #accounts = new Map<string, { readonly key: TestKey; readonly number: bigint; sequence: bigint }>();
  #height = 0n;

  constructor(
    names: readonly string[],
    { database = memoryDatabase(), maxGas = -1n, appState = {} }: GasChainOptions = {},
  ) {
    this.#database = database;
    this.#app = open(database);
    const keys = names.map(testKey);
    const denoms = [...OTHER_DENOMS, NATIVE_DENOM].sort();
    const coins = denoms.map((denom) => ({ denom, amount: RICH }));
    // Only the first three hold every kind of coin: a large genesis would make every case slow to prepare.
    const balances = keys.map(({ address }, i) => ({
      address,
      coins: i < 3 ? coins : [{ denom: NATIVE_DENOM, amount: RICH }],
    }));
    this.app.initChain({
      chainId: CHAIN_ID,
      time: START,
      initialHeight: 1n,
      validators: [],
      consensusParams: { ...DEFAULT_CONSENSUS_PARAMS, block: { maxBytes: -1n, maxGas } },
      appState: { ...appState, bank: { balances } },
    });
    // Accounts of modules come first.
    const first = BigInt(this.app.modules.flatMap(({ accounts = [] }) => accounts).length);
    keys.forEach((key, i) => {
      this.#accounts.set(key.address, { key, number: first + BigInt(i), sequence: 0n });
    });
    this.block([]);
  }

  get app(): SvcApplication {
    return this.#app;
  }

  /** Opens the application anew on its database, with nothing in its caches. */
  reopen(): void {
    this.#app = open(this.#database);
  }

  get height(): bigint {
    return this.#height;
  }

  key(name: string): TestKey {
    return testKey(name);
  }

  /** Lets an account sign that came into being after the genesis. */
  adopt(key: TestKey): void {
    const stored = new AuthKeeper().accounts.require(this.app.state.store("auth"), decodeAddress(key.address));
    this.#accounts.set(key.address, { key, number: stored.number, sequence: stored.sequence });
  }

  /** Signs a transaction with the next sequence of its signers. */
  sign({ messages, signers, gas = AMPLE }: GasTx): Uint8Array {
    const parts = signers.map((key) => {
      const account = this.#accounts.get(key.address);
      if (account === undefined) throw new Error(`the chain was made without ${key.name}`);
      const sequence = account.sequence;
      account.sequence += 1n;
      return { key, accountNumber: account.number, sequence };
    });
    return signTx(CHAIN_ID, messages, parts, { gas });
  }

  /** Runs a block and commits it. */
  block(txs: readonly Uint8Array[]): BlockCost {
    this.#height += 1n;
    const request = {
      ...NO_VOTERS,
      txs,
      height: this.#height,
      time: START + this.#height * SECOND,
      proposer: PROPOSER,
      hash: new Uint8Array(32),
    };
    const before = process.cpuUsage();
    const { txResults } = this.app.finalizeBlock(request);
    this.app.commit();
    const { user, system } = process.cpuUsage(before);
    const gasUsed = txResults.reduce((sum, each) => sum + each.gasUsed, 0n);
    return { cpuMs: (user + system) / 1000, gasUsed, results: txResults };
  }

  /** Runs transactions in a block of their own. Throws when one of them fails. */
  mustRun(...txs: readonly GasTx[]): BlockCost {
    const cost = this.block(txs.map((tx) => this.sign(tx)));
    const failed = cost.results.find(({ code }) => code !== 0);
    if (failed !== undefined) throw new Error(`${failed.codespace}/${failed.code}: ${logOf(failed).slice(0, 400)}`);
    return cost;
  }

  /** Runs messages of one signer, some in each transaction. */
  mustSend(from: TestKey, messages: readonly TestMessage[], perTx = 50): void {
    const txs: GasTx[] = [];
    for (let i = 0; i < messages.length; i += perTx)
      txs.push({ messages: messages.slice(i, i + perTx), signers: [from] });
    this.mustRun(...txs);
  }
}

function open(database: Database): SvcApplication {
  return createApp({
    database,
    report: ({ item, error }) => {
      throw new Error(item, { cause: error });
    },
  });
}
