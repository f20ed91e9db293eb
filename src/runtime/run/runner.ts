import { create } from "@bufbuild/protobuf";
import type { CheckTx, Claim } from "../../abci/index.ts";
import type { MultiStore } from "../../store/index.ts";
import { append, type IntCoin, SvcError, sdkErrors, toHex } from "../../util/index.ts";
import { TxMsgDataSchema } from "../../wire/gen/sdk/base/abci/v1beta1/abci_pb.js";
import { type Envelope, encodeMessage, readEnvelope } from "../../wire/index.ts";
import { type AnteFacts, type AnteOptions, allowanceName, runAnte, type Waiting } from "../ante/ante.ts";
import { checkPayer, type LargeTx, READ_WHOLE_BYTES } from "../ante/payer.ts";
import type { VerifiedSignatures } from "../ante/signatures.ts";
import { type PreparedTx, prepareTx, readGasLimit, routeOf } from "../ante/tx.ts";
import { type BlockInfo, type BlockProblem, Context, type Mode } from "../context.ts";
import { type Event, EventSink } from "../events.ts";
import { failureOf, isFatal, isPanic } from "../failure.ts";
import {
  BlockGas,
  beyondBlockGas,
  type GasMeter,
  infiniteGas,
  limitedGas,
  noBlockGasLeft,
  watchedGas,
} from "../gas/gas.ts";
import { StatusError } from "../requests/query-failure.ts";
import type { Router } from "../router.ts";
import { type MessageResult, runMessages } from "./messages.ts";
import { TxCache } from "./tx-cache.ts";

/** Result of a transaction, in the fields of `ExecTxResult`. */
export interface TxOutcome {
  readonly code: number;
  readonly codespace: string;
  /** `TxMsgData` with the responses. */
  readonly data: Uint8Array;
  /** The text of the error. `logOf` makes the log of a success from the events. */
  readonly log: string | undefined;
  readonly gasWanted: bigint;
  readonly gasUsed: bigint;
  readonly events: readonly Event[];
}

/** The outcome of a check or a failure, which have no events of messages. */
interface PlainOutcome extends TxOutcome {
  readonly log: string;
}

/** Outcome of the checks, with the facts that the mempool needs. */
export interface CheckOutcome extends PlainOutcome {
  /** Undefined when the transaction could not be read. */
  readonly claim: Claim | undefined;
}

/** The state a transaction runs on. Changes that are kept are flushed into `stores`. */
export interface TxEnvironment {
  readonly block: BlockInfo;
  readonly stores: MultiStore;
  /** Transactions that wait for a block; for checks and simulations. */
  readonly waiting?: Waiting;
}

export interface TxRunnerOptions {
  readonly router: Router;
  readonly ante: AnteOptions;
  /** Bytes of checked transactions whose decoded form and verified signatures are remembered. */
  readonly cacheBytes: number;
  /** Receives programming errors. */
  readonly report?: (problem: BlockProblem) => void;
}

/** Limits of a simulation, which is free of charge. */
export interface SimulationLimits {
  readonly maxGas: bigint;
  readonly maxMessages: number;
  /** Called before each message and whenever gas is consumed; throws when the time is over. */
  checkTime(): void;
}

/** The part of a transaction that decides about its place in a block. */
export interface BlockBid {
  readonly gas: bigint;
  /** As in claims. */
  readonly gasPrice: bigint;
  /** Addresses of its signers. */
  readonly signers: readonly string[];
}

const NOTHING = new Uint8Array(0);
/** Prices of gas in claims have 18 decimals. */
const PRICE_UNIT = 10n ** 18n;

/** Runs transactions: checks them for the mempool, executes them in blocks, simulates them. */
export class TxRunner {
  readonly #router: Router;
  readonly #ante: AnteOptions;
  readonly #cache: TxCache;
  readonly #report: (problem: BlockProblem) => void;

  constructor({ router, ante, cacheBytes, report }: TxRunnerOptions) {
    this.#router = router;
    this.#ante = ante;
    this.#cache = new TxCache(cacheBytes);
    this.#report = report ?? (() => {});
  }

  /**
   * Runs the ante checks alone; changes nothing. `recheck` is for transactions that passed before: it verifies no
   * signature again. Nothing is remembered of a transaction that is only tried.
   */
  check(env: TxEnvironment, bytes: Uint8Array, kind: CheckTx["kind"]): CheckOutcome {
    const run = new Run(env, kind === "recheck" ? "recheck" : "check");
    try {
      const hash = this.#cache.hashOf(bytes);
      const known = this.#cache.get(hash);
      const verified: VerifiedSignatures = known?.verified ?? new Set();
      const isLarge = known === undefined && bytes.length > READ_WHOLE_BYTES;
      const envelope = isLarge ? this.#checkPayer(run, bytes, verified) : undefined;
      const tx = run.begin(known?.tx ?? prepareTx(bytes, this.#router, { envelope }));
      run.check(tx, this.#ante, verified);
      if (known === undefined && kind !== "trial") this.#cache.add(hash, bytes, { tx, verified });
      return { ...run.pass(tx), claim: claimOf(tx) };
    } catch (error) {
      return { ...this.#fail(run, error), claim: run.tx === undefined ? undefined : claimOf(run.tx) };
    }
  }

  /**
   * Executes a transaction of a block, whose gas it takes from `blockGas`. The fee and the sequence are kept even when a
   * message fails.
   */
  deliver(env: TxEnvironment, bytes: Uint8Array, blockGas: BlockGas): TxOutcome {
    return this.#execute(new Run(env, "deliver", blockGas), bytes, blockGas);
  }

  /** Executes a transaction of genesis: before the first block all accounts sign with the number 0. */
  deliverGenesis(env: TxEnvironment, bytes: Uint8Array): TxOutcome {
    const blockGas = new BlockGas(-1n);
    return this.#execute(new Run(env, "genesis", blockGas), bytes, blockGas);
  }

  #execute(run: Run, bytes: Uint8Array, blockGas: BlockGas): TxOutcome {
    try {
      if (blockGas.isSpent) throw noBlockGasLeft();
      const hash = this.#cache.hashOf(bytes);
      const known = this.#cache.get(hash);
      this.#cache.delete(hash);
      const tx = run.begin(known?.tx ?? prepareTx(bytes, this.#router));
      run.ante(tx, this.#ante, known?.verified ?? new Set());
      return run.succeed(run.messages(tx, this.#ante));
    } catch (error) {
      if (isFatal(error)) throw error;
      run.countInBlock();
      return this.#fail(run, error);
    }
  }

  /** Before the many messages of a transaction are read, there must be a payer who can pay and who signed it. */
  #checkPayer(run: Run, bytes: Uint8Array, verified: VerifiedSignatures): Envelope {
    const envelope = readEnvelope(bytes);
    const { first } = envelope;
    if (first === undefined) throw sdkErrors.invalidRequest("must contain at least one message");
    routeOf(first, this.#router);
    run.checkPayer({ size: bytes.length, envelope }, this.#ante, verified);
    return envelope;
  }

  /**
   * Runs a transaction without signatures and whatever its own gas limit, and forgets its changes. Throws what `deliver`
   * would report, with a status.
   */
  simulate(
    env: TxEnvironment,
    bytes: Uint8Array,
    { maxGas, maxMessages, checkTime }: SimulationLimits,
  ): { readonly outcome: TxOutcome; readonly results: MessageResult[] } {
    const run = new Run({ ...env, stores: env.stores.branch() }, "simulate");
    try {
      const tx = run.begin(
        prepareTx(bytes, this.#router, { mode: "simulated" }),
        watchedGas(limitedGas(maxGas), checkTime),
      );
      if (tx.messageCount > maxMessages)
        throw sdkErrors.invalidRequest(`a simulation takes at most ${maxMessages} messages, not ${tx.messageCount}`);
      run.ante(tx, this.#ante, new Set());
      const results = run.messages(tx, this.#ante, checkTime);
      return { outcome: run.succeed(results), results };
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      throw new StatusError("Unknown", error, `${error.message} with gas used: '${run.gasUsed}'`);
    }
  }

  /** Addresses of the signers of a transaction that is to be simulated. Throws when it cannot be read. */
  signers(bytes: Uint8Array): readonly Uint8Array[] {
    return prepareTx(bytes, this.#router, { mode: "simulated" }).signers.map(({ address }) => address);
  }

  /** The place that a transaction asks for in a block; undefined for bytes that cannot be read. Needs no state. */
  bidOf(bytes: Uint8Array): BlockBid | undefined {
    try {
      const { fee, gasLimit, signers } =
        this.#cache.get(this.#cache.hashOf(bytes))?.tx ?? prepareTx(bytes, this.#router);
      return { gas: gasLimit, gasPrice: gasPrice(fee, gasLimit), signers: signers.map(({ text }) => text) };
    } catch {
      return undefined;
    }
  }

  /**
   * Runs the ante checks as in a block and keeps their changes in `stores`; the decoded form and verified signatures are
   * remembered for the block. Returns the gas that the transaction asks for, or undefined where it fails.
   */
  rehearse(env: TxEnvironment, bytes: Uint8Array): bigint | undefined {
    try {
      const hash = this.#cache.hashOf(bytes);
      const known = this.#cache.get(hash);
      const verified: VerifiedSignatures = known?.verified ?? new Set();
      const run = new Run(env, "deliver");
      const tx = run.begin(known?.tx ?? prepareTx(bytes, this.#router));
      run.ante(tx, this.#ante, verified);
      if (known === undefined) this.#cache.add(hash, bytes, { tx, verified });
      return tx.gasLimit;
    } catch (error) {
      if (isFatal(error)) throw error;
      return undefined;
    }
  }

  #fail(run: Run, error: unknown): PlainOutcome {
    if (isPanic(error)) this.#report({ item: "transaction", height: run.height, error });
    return run.fail(error);
  }
}

/** One run of one transaction. */
class Run {
  tx: PreparedTx | undefined;
  readonly #env: TxEnvironment;
  readonly #mode: Mode;
  readonly #blockGas: BlockGas | undefined;
  #isCounted = false;
  #gas: GasMeter = infiniteGas();
  #anteEvents: readonly Event[] = [];

  constructor(env: TxEnvironment, mode: Mode, blockGas?: BlockGas) {
    this.#env = env;
    this.#mode = mode;
    this.#blockGas = blockGas;
  }

  get height(): bigint {
    return this.#env.block.height;
  }

  get gasUsed(): bigint {
    return this.#gas.used;
  }

  begin(tx: PreparedTx, gas: GasMeter = limitedGas(tx.gasLimit)): PreparedTx {
    this.tx = tx;
    this.#gas = gas;
    return tx;
  }

  ante(tx: PreparedTx, options: AnteOptions, verified: VerifiedSignatures): void {
    this.#anteEvents = this.#onBranch((ctx) => {
      runAnte(ctx, tx, options, this.#facts(verified));
      return ctx.events.all();
    });
  }

  /** The same checks, without changes. */
  check(tx: PreparedTx, options: AnteOptions, verified: VerifiedSignatures): void {
    const { block, stores } = this.#env;
    const ctx = new Context({ block, mode: this.#mode, stores, gas: this.#gas });
    runAnte(ctx, tx, options, this.#facts(verified));
  }

  /** The checks that come before a large transaction is read, with their own gas. */
  checkPayer(tx: LargeTx, options: AnteOptions, verified: VerifiedSignatures): void {
    const { block, stores } = this.#env;
    const gas = limitedGas(readGasLimit(tx.envelope.authInfo));
    checkPayer(new Context({ block, mode: this.#mode, stores, gas }), tx, options, this.#facts(verified));
  }

  #facts(verified: VerifiedSignatures): AnteFacts {
    return { verified, waiting: this.#env.waiting };
  }

  /** Outcome of a successful check. */
  pass({ gasLimit }: PreparedTx): PlainOutcome {
    return {
      code: 0,
      codespace: "",
      data: NOTHING,
      log: "[]",
      gasWanted: gasLimit,
      gasUsed: this.#gas.used,
      events: [],
    };
  }

  messages(tx: PreparedTx, { accounts }: AnteOptions, before?: () => void): MessageResult[] {
    return this.#onBranch((ctx) => {
      const run = { costs: accounts.storeCosts(ctx), ...(before === undefined ? {} : { before }) };
      const results = runMessages(ctx, tx.messages, run);
      if (!this.countInBlock()) throw beyondBlockGas(tx.gasLimit, this.#gas.used);
      return results;
    });
  }

  /** Consumes the gas of the block, once; answers whether the block had so much left. */
  countInBlock(): boolean {
    if (this.#isCounted) return true;
    this.#isCounted = true;
    const { used, limit } = this.#gas;
    return this.#blockGas?.add(used < limit ? used : limit) ?? true;
  }

  succeed(results: readonly MessageResult[]): TxOutcome {
    const data = create(TxMsgDataSchema, { msgResponses: results.map(({ response }) => response) });
    return {
      code: 0,
      codespace: "",
      data: results.length === 0 ? NOTHING : encodeMessage(TxMsgDataSchema, data),
      log: undefined,
      gasWanted: this.tx?.gasLimit ?? 0n,
      gasUsed: this.#gas.used,
      events: this.#eventsWith(results),
    };
  }

  #eventsWith(results: readonly MessageResult[]): readonly Event[] {
    const all = [...this.#anteEvents];
    for (const { events } of results) append(all, events);
    return all;
  }

  /** The events of the ante checks stay, since the fee was paid. Events of failed messages are dropped. */
  fail(error: unknown): PlainOutcome {
    const { codespace, code, log } = failureOf(error);
    const gasWanted = this.tx?.gasLimit ?? 0n;
    return { code, codespace, data: NOTHING, log, gasWanted, gasUsed: this.#gas.used, events: this.#anteEvents };
  }

  #onBranch<T>(work: (ctx: Context) => T): T {
    const stores = this.#env.stores.branch();
    const events = new EventSink();
    const result = work(new Context({ block: this.#env.block, mode: this.#mode, stores, gas: this.#gas, events }));
    stores.flush();
    return result;
  }
}

/** The claim of a transaction while it waits. */
function claimOf({ signers, feePayer, feeGranter, fee, gasLimit, decoded }: PreparedTx): Claim {
  const { signerInfos } = decoded.authInfo;
  return {
    signers: signers.map(({ address, publicKey }, i) => {
      return { account: toHex(address), sequence: signerInfos[i]?.sequence ?? 0n, publicKey };
    }),
    payer: toHex((feeGranter ?? feePayer).address),
    ...(feeGranter === undefined ? {} : { allowance: allowanceName(feeGranter, feePayer) }),
    fee,
    gasPrice: gasPrice(fee, gasLimit),
    timeoutHeight: decoded.body.timeoutHeight,
  };
}

function gasPrice(fee: readonly IntCoin[], gas: bigint): bigint {
  const prices = gas === 0n ? [] : fee.map(({ amount }) => (amount * PRICE_UNIT) / gas);
  return (
    prices.reduce(
      (least: bigint | undefined, price) => (least === undefined || price < least ? price : least),
      undefined,
    ) ?? 0n
  );
}
