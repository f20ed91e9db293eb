import { isIPv6, type Socket } from "node:net";
import { type Caller, type Clock, callerOf, FairQueue, steadyClock } from "../../../util/index.ts";
import { Allowance, type Rate } from "../allowance.ts";
import { type ClientRules, clientAddress, isTrusted } from "../clients.ts";

/**
 * A handshake costs one to two milliseconds of the thread that serves everybody: all clients together get a part of it,
 * and one network a part of that.
 */
export const HANDSHAKES = {
  all: { burst: 400, perSecond: 200 },
  network: { burst: 100, perSecond: 20 },
  /** Connections of one network, or of a trusted proxy, that may wait for their turn. */
  waiting: { network: 20, proxy: 400 },
} as const satisfies { readonly all: Rate; readonly network: Rate; readonly waiting: object };

/** Networks that are remembered; those that have their whole allowance need not be. */
const MAX_NETWORKS = 10_000;

/**
 * Admits connections to their handshakes at the rate that the thread can bear: one of each network in turn. Each connection of a
 * trusted proxy counts as a network.
 */
export class HandshakeGate {
  readonly #rules: Pick<ClientRules, "trustedProxies">;
  readonly #clock: Clock;
  readonly #all: Allowance;
  readonly #networks = new Map<string, Allowance>();
  readonly #waiting = new FairQueue<() => void>();
  /** How many of each network wait. */
  readonly #counts = new Map<string, number>();
  /** Connections of trusted proxies that have waited so far. */
  #visitors = 0;
  #cancel: (() => void) | undefined;

  constructor(rules: Pick<ClientRules, "trustedProxies">, clock: Clock = steadyClock) {
    this.#rules = rules;
    this.#clock = clock;
    this.#all = new Allowance(HANDSHAKES.all, clock.now());
  }

  /** Calls `begin` now or later, or closes the connection. */
  enter(socket: Socket, begin: () => void): void {
    const now = this.#clock.now();
    const isProxy = isTrusted(clientAddress(socket), this.#rules.trustedProxies);
    if (!isProxy && !this.#mayNetwork(socket, now)) {
      socket.destroy();
    } else if (this.#waiting.isEmpty && this.#all.take(now)) {
      begin();
    } else {
      this.#wait(socket, begin, isProxy);
      this.#schedule(now);
    }
  }

  /** Admits nobody any more. */
  close(): void {
    this.#cancel?.();
  }

  #wait(socket: Socket, begin: () => void, isProxy: boolean): void {
    const caller = callerOf(socket);
    const count = this.#counts.get(caller.client) ?? 0;
    if (count >= (isProxy ? HANDSHAKES.waiting.proxy : HANDSHAKES.waiting.network)) {
      socket.destroy();
      return;
    }
    this.#counts.set(caller.client, count + 1);
    const place = isProxy ? this.#placeOfVisitor(caller) : caller;
    const gone = (): void => {
      this.#waiting.remove(place);
      this.#leave(caller);
    };
    socket.once("close", gone);
    this.#waiting.push(place, () => {
      socket.off("close", gone);
      this.#leave(caller);
      if (!socket.destroyed) begin();
    });
  }

  /** A proxy stands for many clients: as one of them, it would get next to nothing beside a hundred networks. */
  #placeOfVisitor({ client, connection }: Caller): Caller {
    this.#visitors += 1;
    return { client: `${client} ${this.#visitors}`, connection };
  }

  #leave({ client }: Caller): void {
    const left = (this.#counts.get(client) ?? 1) - 1;
    if (left === 0) this.#counts.delete(client);
    else this.#counts.set(client, left);
  }

  #schedule(now: number): void {
    this.#cancel ??= this.#clock.after(this.#all.wait(now), () => {
      this.#cancel = undefined;
      this.#admit();
    });
  }

  #admit(): void {
    const now = this.#clock.now();
    while (!this.#waiting.isEmpty && this.#all.take(now)) this.#waiting.shift()?.();
    if (!this.#waiting.isEmpty) this.#schedule(now);
  }

  #mayNetwork(socket: Socket, now: number): boolean {
    const network = networkOf(clientAddress(socket));
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
