import { isIPv6, type Socket } from "node:net";
import { type Clock, steadyClock } from "../../../util/index.ts";
import { Allowance, type Rate } from "../allowance.ts";
import { type ClientRules, clientAddress, isTrusted } from "../clients.ts";

/**
 * A handshake costs one to two milliseconds of the thread that serves everybody: all clients together get a part of it,
 * and one network a part of that.
 */
export const HANDSHAKES = {
  all: { burst: 400, perSecond: 200 },
  network: { burst: 100, perSecond: 20 },
  /** Connections that may wait for their turn: two seconds of handshakes. */
  waiting: 400,
} as const satisfies { readonly all: Rate; readonly network: Rate; readonly waiting: number };

/** Networks that are remembered; those that have their whole allowance need not be. */
const MAX_NETWORKS = 10_000;

/** Admits connections to their handshakes at the rate that the thread can bear. */
export class HandshakeGate {
  readonly #rules: Pick<ClientRules, "trustedProxies">;
  readonly #clock: Clock;
  readonly #all: Allowance;
  readonly #networks = new Map<string, Allowance>();
  readonly #waiting: { readonly socket: Socket; readonly begin: () => void }[] = [];
  #cancel: (() => void) | undefined;

  constructor(rules: Pick<ClientRules, "trustedProxies">, clock: Clock = steadyClock) {
    this.#rules = rules;
    this.#clock = clock;
    this.#all = new Allowance(HANDSHAKES.all, clock.now());
  }

  /** Calls `begin` now or later, or closes the connection. */
  enter(socket: Socket, begin: () => void): void {
    const now = this.#clock.now();
    if (!this.#mayNetwork(socket, now) || this.#waiting.length >= HANDSHAKES.waiting) {
      socket.destroy();
      return;
    }
    if (this.#waiting.length === 0 && this.#all.take(now)) {
      begin();
      return;
    }
    this.#waiting.push({ socket, begin });
    this.#schedule(now);
  }

  close(): void {
    this.#cancel?.();
    for (const { socket } of this.#waiting.splice(0)) socket.destroy();
  }

  #schedule(now: number): void {
    this.#cancel ??= this.#clock.after(this.#all.wait(now), () => {
      this.#cancel = undefined;
      this.#admit();
    });
  }

  #admit(): void {
    const now = this.#clock.now();
    for (;;) {
      const next = this.#waiting[0];
      if (next === undefined) return;
      if (!next.socket.destroyed) {
        if (!this.#all.take(now)) break;
        next.begin();
      }
      this.#waiting.shift();
    }
    this.#schedule(now);
  }

  #mayNetwork(socket: Socket, now: number): boolean {
    const address = clientAddress(socket);
    if (isTrusted(address, this.#rules.trustedProxies)) return true;
    const network = networkOf(address);
    let allowance = this.#networks.get(network);
    if (allowance === undefined) {
      if (this.#networks.size >= MAX_NETWORKS) this.#forget(now);
      allowance = new Allowance(HANDSHAKES.network, now);
      this.#networks.set(network, allowance);
    }
    return allowance.take(now);
  }

  /** If all are in use, so many networks connect at once that only the common limit helps. */
  #forget(now: number): void {
    for (const [network, allowance] of this.#networks) if (allowance.isFull(now)) this.#networks.delete(network);
    if (this.#networks.size >= MAX_NETWORKS) this.#networks.clear();
  }
}

/** A client of IPv6 has at least 2^64 addresses of its own. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = "", tail] = address.replace(/%.*$/, "").toLowerCase().split("::");
  const groups = head === "" ? [] : head.split(":");
  const rest = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - rest.length);
  const all = [...groups, ...Array.from({ length: zeros }, () => "0"), ...rest];
  return all
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":");
}
