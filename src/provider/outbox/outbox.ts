import { errorText, isOneOf, type Logger, prepend, sdkErrors } from "../../util/index.ts";

/** A message to sign: type URL and bytes. */
export interface OutMessage {
  readonly typeUrl: string;
  readonly value: Uint8Array;
}

/** The chain's verdict on a transaction; code 0 is a success. */
export interface TxVerdict {
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
}

/** A block that was followed: the transactions in it by upper-case hash. */
export interface ConfirmedBlock {
  readonly height: bigint;
  readonly txs: ReadonlyMap<string, TxVerdict>;
}

/** Everything the outbox asks of the chain. Calls reject when the node cannot be asked. */
export interface OutboxChain {
  height(): Promise<bigint>;
  account(): Promise<{ readonly number: bigint; readonly sequence: bigint }>;
  /** Gas that the messages would use now; rejects with the chain's text when they would fail. */
  simulate(messages: readonly OutMessage[], sequence: bigint): Promise<bigint>;
  sign(request: SignRequest): Promise<{ readonly bytes: Uint8Array; readonly hash: string }>;
  broadcast(bytes: Uint8Array): Promise<TxVerdict>;
}

export interface SignRequest {
  readonly messages: readonly OutMessage[];
  readonly accountNumber: bigint;
  readonly sequence: bigint;
  readonly gas: bigint;
  readonly timeoutHeight: bigint;
}

/** The chain refused the messages for good: trying again cannot help. */
export class Rejected extends Error {
  readonly codespace: string;
  readonly code: number;

  constructor(verdict: TxVerdict) {
    super(verdict.log);
    this.name = "Rejected";
    this.codespace = verdict.codespace;
    this.code = verdict.code;
  }
}

/** The message was removed from the queue before it was sent: it is no longer wanted. */
export class Withdrawn extends Error {
  constructor(label: string) {
    super(`${label}: not sent, since it is no longer wanted`);
    this.name = "Withdrawn";
  }
}

export interface SendOptions {
  /** Asked just before the message is sent; with false it leaves the queue, and `send` rejects with `Withdrawn`. */
  readonly isWanted?: () => boolean;
}

export interface OutboxOptions {
  readonly chain: OutboxChain;
  readonly log: Logger;
  /** Blocks after which a transaction that was not seen is dead. */
  readonly timeoutBlocks: bigint;
  /** Messages per transaction. */
  readonly batch: number;
  /** Waits before asking a node again that did not answer. */
  readonly pause: (attempt: number) => Promise<void>;
}

interface Entry {
  readonly message: OutMessage;
  readonly label: string;
  readonly resolve: (height: bigint) => void;
  readonly reject: (error: Error) => void;
  readonly isWanted: () => boolean;
  /** The part of a refused batch that it is in: parts are tried separately. */
  part?: symbol;
}

interface InFlight {
  readonly hash: string;
  readonly entries: readonly Entry[];
  readonly timeoutHeight: bigint;
}

/** The mempool has these very bytes already: an earlier attempt to hand them in arrived, only its answer did not. */
const IN_MEMPOOL = [sdkErrors.txInMempool];
/** Refusals that end by themselves: mempool full, wrong sequence. */
const PASSING = [sdkErrors.mempoolFull, sdkErrors.wrongSequence];
/** A bid takes two fifths more gas where its order has filled since it was simulated. */
const GAS_MARGIN_PERCENT = 150n;
/** Each message may cost a little more when it runs than when it was simulated. */
const GAS_FLOOR = 100_000n;

/**
 * The only place that signs with the provider's key. One transaction is on its way at a time; messages that arrive
 * meanwhile go together in the next. A message is done when its transaction is seen in a block, and dead when the
 * height until which it was valid has passed: nothing is ever sent twice while it may still arrive.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #queue: Entry[] = [];
  #inFlight: InFlight | undefined;
  #sequence: bigint | undefined;
  #accountNumber = 0n;
  #working = false;
  #stopped = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Messages not yet confirmed. */
  get depth(): number {
    return this.#queue.length + (this.#inFlight?.entries.length ?? 0);
  }

  /**
   * Resolves with the height of the block that holds the message; rejects with `Rejected` when the chain refuses it.
   */
  send(message: OutMessage, label: string, { isWanted = () => true }: SendOptions = {}): Promise<bigint> {
    return new Promise((resolve, reject) => {
      if (this.#stopped) return reject(new Error("the provider is stopping"));
      this.#queue.push({ message, label, resolve, reject, isWanted });
      this.#wake();
    });
  }

  /** Reads the results in a followed block, then continues with waiting messages. */
  onBlock(block: ConfirmedBlock): void {
    const flight = this.#inFlight;
    const verdict = flight === undefined ? undefined : block.txs.get(flight.hash);
    if (flight !== undefined && verdict !== undefined) this.#settle(flight, verdict, block.height);
    else if (flight !== undefined && block.height >= flight.timeoutHeight) this.#expire(flight);
    this.#wake();
  }

  /** Compares the local sequence with the chain's; for the start and the log. */
  async sync(): Promise<{ readonly local: bigint; readonly remote: bigint }> {
    const before = this.#inFlight === undefined ? { sequence: this.#sequence } : undefined;
    const account = await this.#options.chain.account();
    const local = this.#sequence ?? account.sequence;
    // An answer older than a block of ours would set the sequence back.
    const isIdle = before !== undefined && this.#inFlight === undefined && before.sequence === this.#sequence;
    if (isIdle) this.#sequence = account.sequence;
    this.#accountNumber = account.number;
    return { local, remote: account.sequence };
  }

  /** Refuses unsent messages. Sent ones are left: the next start finds them on the chain. */
  stop(): void {
    this.#stopped = true;
    for (const entry of this.#queue.splice(0)) entry.reject(new Error("the provider is stopping"));
  }

  #wake(): void {
    if (this.#working || this.#stopped) return;
    this.#working = true;
    // A turn of the event loop lets the other messages of the same block join.
    setImmediate(() => {
      this.#work().finally(() => {
        this.#working = false;
        if (this.#queue.length > 0 && this.#inFlight === undefined && !this.#stopped) this.#wake();
      });
    });
  }

  async #work(): Promise<void> {
    let attempt = 0;
    while (this.#inFlight === undefined && this.#queue.length > 0 && !this.#stopped) {
      const entries = this.#takeBatch();
      if (entries.length === 0) continue;
      try {
        const again = await this.#dispatch(entries);
        if (again) await this.#options.pause(attempt++);
        else attempt = 0;
      } catch (error) {
        // The node did not answer: the messages wait, nothing is lost.
        prepend(this.#queue, entries);
        this.#sequence = undefined;
        this.#options.log.warn("broadcast postponed", { waiting: this.#queue.length, err: errorText(error) });
        await this.#options.pause(attempt++);
      }
    }
  }

  /** The batch at the front of the queue, without withdrawn messages. */
  #takeBatch(): Entry[] {
    const { batch } = this.#options;
    const part = this.#queue[0]?.part;
    const end = this.#queue.findIndex((entry, i) => i >= batch || entry.part !== part);
    const taken = this.#queue.splice(0, end < 0 ? this.#queue.length : end);
    return taken.filter((entry) => {
      const isWanted = entry.isWanted();
      if (!isWanted) entry.reject(new Withdrawn(entry.label));
      return isWanted;
    });
  }

  /** Simulates, signs and sends; true when it is to be tried again. Rejects only when the node could not be asked. */
  async #dispatch(entries: readonly Entry[]): Promise<boolean> {
    const { chain, log, timeoutBlocks } = this.#options;
    const sequence = await this.#nextSequence();
    const messages = entries.map((entry) => entry.message);
    const gas = await this.#gas(messages, sequence);
    if (typeof gas !== "bigint") return this.#refused(entries, gas);
    const timeoutHeight = (await chain.height()) + timeoutBlocks;
    const request = { messages, accountNumber: this.#accountNumber, sequence, gas, timeoutHeight };
    const { bytes, hash } = await chain.sign(request);
    // From here on the transaction may arrive, whatever the answer.
    this.#inFlight = { hash, entries, timeoutHeight };
    let verdict: TxVerdict;
    try {
      verdict = await chain.broadcast(bytes);
    } catch (error) {
      log.warn("no answer to a broadcast, waiting for the block", {
        hash,
        until: timeoutHeight.toString(),
        err: errorText(error),
      });
      return false;
    }
    log.info("broadcast response", { response: hash, code: verdict.code, err: verdict.code === 0 ? "" : verdict.log });
    // The block may have been faster than the answer; then the block counts.
    if (this.#inFlight?.hash !== hash) return false;
    const isIn = verdict.code === 0 || isOneOf(IN_MEMPOOL, verdict);
    if (!isIn) return this.#refused(entries, verdict);
    this.#sequence = sequence + 1n;
    return false;
  }

  async #nextSequence(): Promise<bigint> {
    if (this.#sequence !== undefined) return this.#sequence;
    const { number, sequence } = await this.#options.chain.account();
    this.#accountNumber = number;
    this.#sequence = sequence;
    return sequence;
  }

  /** Gas for the batch, or why the chain would refuse it. */
  async #gas(messages: readonly OutMessage[], sequence: bigint): Promise<bigint | TxVerdict> {
    try {
      const used = await this.#options.chain.simulate(messages, sequence);
      const gas = (used * GAS_MARGIN_PERCENT) / 100n;
      return gas > GAS_FLOOR ? gas : GAS_FLOOR;
    } catch (error) {
      if (!(error instanceof Rejected)) throw error;
      return { code: error.code, codespace: error.codespace, log: error.message };
    }
  }

  /** The node did not take the transaction: it cannot arrive any more. True when it is to be tried again. */
  #refused(entries: readonly Entry[], verdict: TxVerdict): boolean {
    this.#inFlight = undefined;
    this.#sequence = undefined;
    if (!passes(verdict)) {
      this.#fail(entries, verdict);
      return false;
    }
    this.#options.log.warn("account sequence differs or the mempool is full, trying again", { err: verdict.log });
    prepend(this.#queue, entries);
    return true;
  }

  #settle(flight: InFlight, verdict: TxVerdict, height: bigint): void {
    this.#inFlight = undefined;
    if (verdict.code === 0) {
      for (const entry of flight.entries) entry.resolve(height);
      return;
    }
    // Only the chain knows whether a transaction that failed used up its sequence.
    this.#sequence = undefined;
    if (passes(verdict)) prepend(this.#queue, flight.entries);
    else this.#fail(flight.entries, verdict);
  }

  /**
   * One bad message fails a whole batch. If the chain names it, only that message is refused and the others are sent
   * again together; otherwise each half is tried separately, and the simulation finds a failing half without needing a
   * block.
   */
  #fail(entries: readonly Entry[], verdict: TxVerdict): void {
    const at = entries.length === 1 ? 0 : failedMessage(verdict);
    const culprit = at === undefined ? undefined : entries[at];
    if (culprit === undefined) {
      prepend(this.#queue, inHalves(entries));
      return;
    }
    culprit.reject(new Rejected(verdict));
    prepend(
      this.#queue,
      entries.filter((entry) => entry !== culprit),
    );
  }

  #expire(flight: InFlight): void {
    this.#options.log.warn("transaction was not taken into a block, sending again", { hash: flight.hash });
    this.#inFlight = undefined;
    this.#sequence = undefined;
    prepend(this.#queue, flight.entries);
  }
}

/** The message that failed, as the log of a refused transaction names it. */
function failedMessage({ log }: TxVerdict): number | undefined {
  const index = /message index: (\d{1,4})\b/.exec(log)?.[1];
  return index === undefined ? undefined : Number(index);
}

function inHalves(entries: readonly Entry[]): readonly Entry[] {
  const middle = Math.ceil(entries.length / 2);
  const [first, second] = [Symbol("first half"), Symbol("second half")];
  entries.forEach((entry, i) => {
    entry.part = i < middle ? first : second;
  });
  return entries;
}

function passes(verdict: TxVerdict): boolean {
  return isOneOf(PASSING, verdict);
}
