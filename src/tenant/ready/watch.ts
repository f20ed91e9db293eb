import type { LeaseRecord } from "../../client/index.ts";
import { errorText } from "../../util/index.ts";
import { checkInterrupted, sleep, unlessInterrupted } from "../session/clock.ts";
import { deployErrors } from "../session/errors.ts";
import type { Wait } from "../session/progress.ts";
import type { Session } from "../session/session.ts";

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 1_000;
/** Time between two checks that the chain still has the leases. */
const CHAIN_LOOK_MS = 5_000;

/** Parts of the error at the time limit. */
interface Late {
  /** Earlier reports. */
  readonly reasons?: () => readonly string[];
  /** The remedy; logs and updates if left out. */
  readonly hint?: string;
}

/** Repeats checks until they succeed, as long as there is time and the chain has the leases. */
export class ReadyWatch {
  readonly #session: Session;
  readonly #dseq: bigint;
  readonly #deadline: number;
  readonly #told = new Set<string>();
  #chainLook: number;

  constructor(session: Session, dseq: bigint) {
    this.#session = session;
    this.#dseq = dseq;
    this.#deadline = session.clock.now() + session.request.timeoutMs;
    this.#chainLook = session.clock.now() + CHAIN_LOOK_MS;
  }

  /** Result of a check; a text names the missing part. */
  async until<T extends object | number | true>(
    look: () => Promise<T | string>,
    wait: Wait,
    late: Late = {},
  ): Promise<T> {
    const { clock, request, progress } = this.#session;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
      const found = await unlessInterrupted(() => this.#tryLook(look), request.signal);
      if (typeof found !== "string") return found;
      progress.waiting(found, wait);
      if (clock.now() + pause > this.#deadline) throw this.#late(found, late);
      await sleep(clock, pause, request.signal);
      await this.#checkLeases();
    }
  }

  /** Says something once. */
  tell(text: string): void {
    if (this.#told.has(text)) return;
    this.#told.add(text);
    this.#session.progress.note(`${text}\n`);
  }

  async #tryLook<T>(look: () => Promise<T | string>): Promise<T | string> {
    try {
      return await look();
    } catch (error) {
      checkInterrupted(this.#session.request.signal);
      return `an answer of the provider (${errorText(error)})`;
    }
  }

  async #checkLeases(): Promise<void> {
    const { clock, market } = this.#session;
    if (clock.now() < this.#chainLook) return;
    this.#chainLook = clock.now() + CHAIN_LOOK_MS;
    // A node that does not answer says nothing about the leases.
    const leases = await market.leases(this.#dseq).catch(() => []);
    const newest = newestByGroup(leases);
    const ended = newest.find(({ state }) => state !== "active");
    if (ended !== undefined) throw leaseEnded(ended);
  }

  #late(found: string, { reasons = () => [], hint = this.#look() }: Late): Error {
    const waited = Math.round(this.#session.request.timeoutMs / 1000);
    const missing = [found, ...reasons()].join("; ");
    return deployErrors.notReady(`waited ${waited} s for ${missing}`, {
      hint: `${hint}; svc deploy close --dseq ${this.#dseq} ends them`,
    });
  }

  #look(): string {
    return (
      `svc deploy logs --dseq ${this.#dseq} shows what the containers say; ` +
      `svc deploy update FILE --dseq ${this.#dseq} changes them`
    );
  }
}

/** The last lease of each group. */
function newestByGroup(leases: readonly LeaseRecord[]): readonly LeaseRecord[] {
  const newest = new Map<number, LeaseRecord>();
  for (const lease of leases) {
    const before = newest.get(lease.id.gseq);
    const isNewer = before === undefined || lease.id.oseq > before.id.oseq;
    if (isNewer) newest.set(lease.id.gseq, lease);
  }
  return [...newest.values()];
}

function leaseEnded({ id, state, closeReason }: LeaseRecord): Error {
  if (state === "insufficient_funds") {
    const hint = `svc tx deployment deposit <amount> --dseq ${id.dseq} adds funds, then run the same command again`;
    return deployErrors.leaseEnded(`the funds of deployment ${id.dseq} have run out`, { hint });
  }
  const hint = "run the same command again for another lease, or close the deployment: svc deploy close";
  return deployErrors.leaseEnded(`provider ${id.provider} gave the reason "${closeReason}"`, { hint });
}
