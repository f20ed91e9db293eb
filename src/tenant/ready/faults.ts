import type { LeaseState } from "../session/gateway.ts";
import type { Session } from "../session/session.ts";
import type { Leased } from "./manifest.ts";
import type { ReadyWatch } from "./watch.ts";

/** Time between two questions to the provider. */
const ASK_MS = 5_000;

/** Faults of a lease that the provider reports, while its addresses are awaited. */
export class LeaseFaults {
  readonly #session: Session;
  readonly #leased: Leased;
  readonly #watch: ReadyWatch;
  #askAt = 0;
  #last: readonly string[] = [];

  constructor(session: Session, leased: Leased, watch: ReadyWatch) {
    this.#session = session;
    this.#leased = leased;
    this.#watch = watch;
  }

  /** The last faults. */
  get last(): readonly string[] {
    return this.#last;
  }

  /** Asks from time to time, and shows new faults. Ignores a missing answer. */
  async ask(): Promise<void> {
    const { clock, openGateway } = this.#session;
    if (clock.now() < this.#askAt) return;
    this.#askAt = clock.now() + ASK_MS;
    const { provider, lease } = this.#leased;
    const state = await openGateway(provider)
      .status(lease.id)
      .catch(() => undefined);
    if (state === undefined) return;
    this.#last = faultsOf(state);
    for (const fault of this.#last) this.#watch.tell(fault);
  }
}

/** Faults that keep a lease from working, in the provider's words. */
export function faultsOf({ services, error }: LeaseState): readonly string[] {
  const own = services.flatMap((each) => (each.error === undefined ? [] : [`service ${each.name}: ${each.error}`]));
  return error === undefined ? own : [error, ...own];
}
