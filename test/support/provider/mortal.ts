/** A process that is killed at a step: before it asks something of the world outside, or before it hears the answer. */
export class Mortal {
  /** Steps that it lives. */
  #left: number;
  #isDead = false;
  #die: () => void = () => {};
  /** Name of the step at which it died. */
  step = "";
  readonly died = new Promise<void>((resolve) => {
    this.#die = resolve;
  });

  constructor(steps: number) {
    this.#left = steps;
  }

  kill(step: string): void {
    if (!this.#isDead) this.step = step;
    this.#isDead = true;
    this.#die();
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** The part as the process sees it. Calls of a dead process have no effect and no end. */
  readonly through = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (isCall(value)) return this.#guarded(target, String(name), value);
        return typeof value === "object" && value !== null && NESTED.has(String(name)) ? this.through(value) : value;
      },
    });

  #guarded(target: object, name: string, call: (...args: unknown[]) => unknown) {
    return (...args: unknown[]): unknown => {
      // A synchronous answer is not a step.
      if (!ASKED.has(name)) return call.apply(target, args);
      return this.#asked(name, () => call.apply(target, args));
    };
  }

  async #asked(name: string, ask: () => unknown): Promise<unknown> {
    await this.#survive(`before ${name}`);
    const answer = await ask();
    await this.#survive(`after ${name}`);
    return answer;
  }

  #survive(step: string): Promise<void> {
    if (!this.#isDead && this.#left-- > 0) return Promise.resolve();
    this.kill(step);
    return new Promise(() => {});
  }
}

function isCall(value: unknown): value is (...args: unknown[]) => unknown {
  return typeof value === "function";
}

const NESTED: ReadonlySet<string> = new Set(["ports"]);

/** Calls that leave the process. */
const ASKED: ReadonlySet<string> = new Set([
  ...["check", "deploy", "teardown", "adopt", "status", "assign", "closeBid"],
  ...["lease", "activeLeases", "deployment", "prunedAt", "group", "order", "openOrders", "bid", "openBids"],
  ...["openBidPrices", "marketParams", "offer", "balance", "durable"],
  ...["height", "account", "simulate", "sign", "broadcast"],
]);
