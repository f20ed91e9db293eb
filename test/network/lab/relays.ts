import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Fixture } from "../../support/index.ts";
import { OWN_ADDRESS } from "./machines.ts";

/** A way from one machine to a port of another. */
export interface Way {
  readonly from: number;
  readonly to: number;
  readonly host: string;
  readonly port: number;
}

/** Time that bytes take, in milliseconds, more or less a part of it. */
export interface Delay {
  readonly ms: number;
  readonly jitter: number;
}

interface Connection {
  readonly way: Way;
  readonly sockets: readonly Socket[];
}

/** Relays of TCP in this process: they delay, hold back and break off connections. */
export class Relays {
  readonly #fixture: Fixture;
  readonly #open = new Set<Connection>();
  readonly #clogged = new Set<number>();
  #delayOf: (way: Way) => Delay | undefined = () => undefined;

  constructor(fixture: Fixture) {
    this.#fixture = fixture;
    fixture.defer(() => this.reset(() => true));
  }

  /** The port on which a relay takes connections of a way. */
  async open(way: Way): Promise<number> {
    const server = createServer((client) => this.#relay(way, client));
    await once(server.listen(0, OWN_ADDRESS), "listening");
    this.#fixture.defer(() => server.close());
    return (server.address() as AddressInfo).port;
  }

  /** Delays bytes of both directions from now on. */
  delay(delayOf: (way: Way) => Delay | undefined): void {
    this.#delayOf = delayOf;
  }

  /** Breaks off connections; returns their number. */
  reset(which: (way: Way) => boolean): number {
    const chosen = [...this.#open].filter(({ way }) => which(way));
    for (const { sockets } of chosen) for (const socket of sockets) socket.resetAndDestroy();
    return chosen.length;
  }

  /** Passes on nothing from and to a machine, and breaks off no connection. */
  clog(machine: number): void {
    this.#clogged.add(machine);
    this.#flow();
  }

  unclog(machine: number): void {
    this.#clogged.delete(machine);
    this.#flow();
  }

  #flow(): void {
    for (const { way, sockets } of this.#open)
      for (const socket of sockets) {
        if (this.#isClogged(way)) socket.pause();
        else socket.resume();
      }
  }

  #isClogged({ from, to }: Way): boolean {
    return this.#clogged.has(from) || this.#clogged.has(to);
  }

  #relay(way: Way, client: Socket): void {
    const inner = connect(way.port, way.host);
    const connection = { way, sockets: [client, inner] };
    this.#open.add(connection);
    for (const socket of connection.sockets) {
      socket.setNoDelay(true);
      socket.on("error", () => undefined);
      socket.once("close", () => {
        this.#open.delete(connection);
        client.destroy();
        inner.destroy();
      });
    }
    this.#pass(way, client, inner);
    this.#pass(way, inner, client);
    if (this.#isClogged(way)) for (const socket of connection.sockets) socket.pause();
  }

  /** Passes bytes on in order, each piece after the delay of the way. */
  #pass(way: Way, from: Socket, to: Socket): void {
    const waiting: { readonly due: number; readonly chunk: Uint8Array }[] = [];
    let due = 0;
    const pump = (): void => {
      while (waiting[0] !== undefined && waiting[0].due <= performance.now()) to.write(waiting.shift()?.chunk ?? "");
      if (waiting[0] !== undefined) setTimeout(pump, Math.ceil(waiting[0].due - performance.now()));
      else if (from.readableEnded) to.end();
    };
    from.on("data", (chunk) => {
      due = Math.max(due, performance.now() + delayMs(this.#delayOf(way)));
      if (waiting.push({ due, chunk }) === 1) pump();
    });
    from.once("end", () => waiting.length === 0 && to.end());
  }
}

function delayMs(delay: Delay | undefined): number {
  return delay === undefined ? 0 : delay.ms * (1 + delay.jitter * (2 * Math.random() - 1));
}
