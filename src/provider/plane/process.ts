import type { Socket as UdpSocket } from "node:dgram";
import { fstatSync, ftruncateSync, mkdirSync, statSync, writeSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { createLogger, errorText, type Logger, Mutex } from "../../util/index.ts";
import { formatLeaseId } from "../../wire/index.ts";
import { decodeJson } from "../durable.ts";
import { PUBLIC, PUBLIC_TLS } from "../ingress/index.ts";
import { DataPlane, type Inherited } from "./data-plane.ts";
import { type LaunchAnswer, type LaunchMessage, type LaunchOrder, LOG_BYTES, launchPlane } from "./launch.ts";
import {
  PLANE_FOLDER,
  PLANE_VARIABLE,
  type PlaneCall,
  type PlaneCalls,
  type PlaneSettings,
  type RequestLine,
  readLines,
  writeLine,
} from "./protocol.ts";

/** How often the plane checks its own socket and folder. */
const LOOK_MS = 1_000;
/** Connections that are open when another plane takes over may continue for this long. */
const DRAIN_MS = 3_600_000;
const STDERR = 2;

type Handlers = { readonly [C in PlaneCall]: (request: PlaneCalls[C][0]) => Promise<PlaneCalls[C][1]> };

/** One process that carries tenants' traffic. It ends on request, or when the provider's folder has gone. */
class PlaneProcess {
  readonly #order: LaunchOrder;
  readonly #plane: DataPlane;
  readonly #log: Logger;
  readonly #steps = new Mutex();
  readonly #clients = new Set<Socket>();
  #control: Server | undefined;
  #port = 0;
  #leaving = false;

  constructor(order: LaunchOrder, plane: DataPlane, log: Logger) {
    this.#order = order;
    this.#plane = plane;
    this.#log = log;
  }

  async start(): Promise<void> {
    this.#port = await this.#plane.listen(this.#order.table);
    await this.#openControl();
    setInterval(() => this.#look(), LOOK_MS);
    process.on("SIGTERM", () => process.exit(0));
    for (const signal of ["SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
    this.#log.info("data plane serves", { pid: process.pid, port: this.#port });
  }

  /** The path is relative to the folder: the whole path may be longer than a socket's name can be. */
  get #socket(): string {
    return `${process.pid}.sock`;
  }

  async #openControl(): Promise<void> {
    const server = createServer((socket) => this.#serve(socket));
    this.#control = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.#socket, resolve);
    });
    server.on("error", (error) => this.#log.error("control socket failed", { err: error.message }));
  }

  /** A socket that was removed is made again; without the provider's folder the plane ends. */
  #look(): void {
    const { stateDir } = this.#order;
    if (statSync(stateDir, { throwIfNoEntry: false }) === undefined) process.exit(0);
    const folder = join(stateDir, PLANE_FOLDER);
    if (this.#leaving || statSync(join(folder, this.#socket), { throwIfNoEntry: false }) !== undefined) return;
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      process.chdir(folder);
      this.#control?.close();
      void this.#openControl().catch((error) => this.#log.error("no control socket", { err: errorText(error) }));
    } catch (error) {
      this.#log.error("no control socket", { err: errorText(error) });
    }
  }

  #serve(socket: Socket): void {
    this.#clients.add(socket);
    socket.once("close", () => this.#clients.delete(socket));
    socket.on("error", () => socket.destroy());
    readLines<RequestLine>(socket, ({ id, call, request }) => {
      // In order: a later table must not be overtaken by an earlier one.
      void this.#steps
        .run(() => this.#answer(call, request))
        .then(
          (answer) => writeLine(socket, { id, answer }),
          (error: unknown) => writeLine(socket, { id, error: errorText(error) }),
        );
    });
  }

  #answer<C extends PlaneCall>(call: C, request: unknown): Promise<PlaneCalls[C][1]> {
    // The daemon that asks is of the same version: it compared that first.
    return this.#handlers[call](request as PlaneCalls[C][0]);
  }

  readonly #handlers: Handlers = {
    hello: async () => ({ identity: this.#order.identity, pid: process.pid, port: this.#port }),
    route: async ({ backends, ...routes }) => {
      if (backends !== undefined) this.#plane.setBackends(backends);
      return this.#plane.route(routes);
    },
    unroute: async ({ id }) => {
      await this.#plane.unroute(id);
      this.#log.info("lease no longer routed", { lease: formatLeaseId(id) });
      return null;
    },
    backends: async (backends) => {
      this.#plane.setBackends(backends);
      return null;
    },
    carry: async ({ lease, ports }) => [...(await this.#plane.carry(lease, ports))],
    table: async () => this.#plane.table(),
    challenge: async ({ token, answer }) => {
      await this.#plane.challenge(token, answer);
      return null;
    },
    retain: async ({ leases, names }) => {
      await this.#plane.retain(new Set(leases), new Set(names));
      return null;
    },
    replace: async ({ program, settings }) => {
      const { stateDir } = this.#order;
      const table = this.#plane.table();
      const { http, ports } = this.#plane.listeners();
      const kept = staying(http, { before: this.#plane.settings.ingress, after: settings.ingress });
      await launchPlane(program, { stateDir, identity: program.identity, settings, table }, { http: kept, ports });
      this.#leave();
      return null;
    },
    end: async () => {
      // A caller that gets the answer may listen on the plane's ports at once.
      await this.#plane.close();
      setImmediate(() => process.exit(0));
      return null;
    },
  };

  /** Another plane has taken over: open connections stay here until they end. */
  #leave(): void {
    this.#leaving = true;
    this.#log.info("another data plane took over; open connections stay here", { pid: process.pid });
    this.#control?.close();
    setTimeout(() => process.exit(0), DRAIN_MS);
    void this.#plane.drain().then(() => process.exit(0));
    // The answer is written first.
    setImmediate(() => setImmediate(() => this.#control?.unref()));
  }
}

/** Listeners that the next plane continues with. If the ingress is to listen elsewhere, the new plane opens its own. */
function staying<T>(
  listeners: ReadonlyMap<string, T>,
  { before, after }: { before: PlaneSettings["ingress"]; after: PlaneSettings["ingress"] },
): Map<string, T> {
  const moved = new Set<string>();
  if (isElsewhere(before, after)) moved.add(PUBLIC);
  if (isElsewhere(before.tls, after.tls)) moved.add(PUBLIC_TLS);
  return new Map([...listeners].filter(([key]) => !moved.has(key)));
}

interface Place {
  readonly host: string;
  readonly port: number;
}

function isElsewhere(before: Place | undefined, after: Place | undefined): boolean {
  return before?.host !== after?.host || before?.port !== after?.port;
}

/** Receives what the starting process hands over, and begins. */
function begin(): void {
  const http = new Map<string, Server>();
  const ports = new Map<string, Server | UdpSocket>();
  const log = createLogger({ level: "info", format: "plain", write });
  const answer = (message: LaunchAnswer) => process.send?.(message);
  process.on("uncaughtException", (error) => {
    log.error("the data plane ends", { err: error.stack ?? error.message });
    process.exit(1);
  });
  const orphaned = () => process.exit(1);
  process.once("disconnect", orphaned);
  const held = new Held();
  process.on("message", (message: LaunchMessage, handle: unknown) => {
    if (message.kind === "start") {
      const order = decodeJson(message.text) as LaunchOrder;
      const plane = new DataPlane(order.settings, { http, ports }, log);
      new PlaneProcess(order, plane, log).start().then(
        () => {
          held.hand(plane.listeners());
          process.off("disconnect", orphaned);
          answer({ kind: "up" });
        },
        (error: unknown) => {
          const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
          const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
          const port = cause instanceof Error && "port" in cause ? Number(cause.port) : undefined;
          answer({ kind: "failed", code, port, message: errorText(cause) });
          process.exitCode = 1;
          process.disconnect();
        },
      );
      return;
    }
    // Node.js makes an object of the kind that was sent.
    const listener = handle as Server | UdpSocket;
    if ("getConnections" in listener) held.hold(`${message.kind} ${message.key}`, listener);
    if (message.kind === "ports") ports.set(message.key, listener);
    else if ("getConnections" in listener) http.set(message.key, listener);
  });
  answer({ kind: "ready" });
}

/** Connections on listeners that were received but are not served yet. */
class Held {
  readonly #sockets: { readonly name: string; readonly socket: Socket }[] = [];

  hold(name: string, listener: Server): void {
    listener.on("connection", (socket: Socket) => {
      // A client that leaves before its turn must not end the process.
      socket.on("error", () => socket.destroy());
      this.#sockets.push({ name, socket });
    });
  }

  hand({ http, ports }: Inherited): void {
    const servers = new Map<string, Server | UdpSocket>();
    for (const [key, server] of http) servers.set(`http ${key}`, server);
    for (const [key, server] of ports) servers.set(`ports ${key}`, server);
    for (const { name, socket } of this.#sockets.splice(0)) {
      const server = servers.get(name);
      if (server === undefined) socket.destroy();
      else server.emit("connection", socket);
    }
  }
}

/** A full disk ends the log, not the traffic. The file begins again when it is large: this process may run for years. */
function write(line: string): void {
  try {
    const log = fstatSync(STDERR);
    if (log.isFile() && log.size > LOG_BYTES) ftruncateSync(STDERR);
    writeSync(STDERR, line);
  } catch {
    // There is no other place to say it.
  }
}

// The entry point of a data plane; no file imports it.
if (process.env[PLANE_VARIABLE] === "1") begin();
