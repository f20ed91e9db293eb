import { existsSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { join } from "node:path";
import { errorText } from "../../util/index.ts";
import { decodeMessage, encodeCall, type Incoming, MESSAGE, type MethodCall, messageLength } from "./message.ts";
import type { DBusValue } from "./types.ts";

const CONNECT_TIMEOUT_MS = 10_000;
const MAX_AUTH_LINE = 1024;

/** An error that came as the answer to a call, or the loss of the bus. */
export class DBusError extends Error {
  /** For example `org.freedesktop.DBus.Error.ServiceUnknown`; empty when it did not come from the bus. */
  readonly type: string;

  constructor(type: string, text: string) {
    super(text);
    this.name = "DBusError";
    this.type = type;
  }
}

/** No answer came in time. */
export class DBusTimeout extends DBusError {}

interface Pending {
  readonly settle: (message: Incoming) => void;
  readonly fail: (error: Error) => void;
}

/** The signal of an object to wait for. */
export interface SignalOf {
  readonly path: string;
  readonly interface: string;
  readonly member: string;
}

/**
 * A connection to the session bus: calls and single signals, which is all that keyrings need. A connection without a
 * call in flight does not keep the process running.
 */
export class Bus {
  readonly #socket: Socket;
  readonly #calls = new Map<number, Pending>();
  readonly #signals = new Map<string, Pending>();
  #received: Uint8Array = new Uint8Array();
  #serial = 0;
  #lost: Error | undefined;

  private constructor(socket: Socket, received: Uint8Array) {
    this.#socket = socket;
    socket.on("data", (bytes) => this.#receive(bytes));
    socket.on("error", (error) => this.#lose(error));
    socket.on("close", () => this.#lose(new Error("the session bus closed the connection")));
    this.#receive(received);
    socket.unref();
  }

  /** Connects to the bus behind a socket, as the user of this process. */
  static async connect(path: string): Promise<Bus> {
    const socket = createConnection(path);
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => socket.destroy(new Error("no answer from the session bus")));
    try {
      const bus = new Bus(socket, await authenticate(socket));
      await bus.call({ ...BUS, member: "Hello" }, CONNECT_TIMEOUT_MS);
      socket.setTimeout(0);
      return bus;
    } catch (error) {
      socket.destroy();
      throw new DBusError("", errorText(error));
    }
  }

  /** Whether the bus has gone away: every further call would fail. */
  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  /** Calls a method; rejects with a `DBusError` when the other side refuses, goes away or needs longer. */
  async call(call: MethodCall, timeoutMs: number): Promise<readonly DBusValue[]> {
    this.#serial += 1;
    const serial = this.#serial;
    const answer = this.#wait(this.#calls, serial, timeoutMs);
    if (this.#lost === undefined) this.#socket.write(encodeCall(call, serial));
    const { type, error, body } = await answer;
    if (type === MESSAGE.reply) return body;
    const [text] = body;
    throw new DBusError(error, typeof text === "string" && text !== "" ? text : error);
  }

  /** The body of the signal that `trigger` causes. */
  async signal(signal: SignalOf, trigger: () => Promise<unknown>, timeoutMs: number): Promise<readonly DBusValue[]> {
    const rule = `type='signal',path='${signal.path}',interface='${signal.interface}',member='${signal.member}'`;
    await this.call({ ...BUS, member: "AddMatch", signature: "s", body: [rule] }, CONNECT_TIMEOUT_MS);
    const key = signalKey(signal);
    const answer = this.#wait(this.#signals, key, timeoutMs);
    trigger().catch((error: Error) => this.#signals.get(key)?.fail(error));
    return (await answer).body;
  }

  /** Names on the bus: owned, or startable on demand. */
  async names(): Promise<{ readonly owned: ReadonlySet<string>; readonly startable: ReadonlySet<string> }> {
    const [owned, startable] = await Promise.all(
      ["ListNames", "ListActivatableNames"].map((member) => this.call({ ...BUS, member }, CONNECT_TIMEOUT_MS)),
    );
    return { owned: namesIn(owned), startable: namesIn(startable) };
  }

  close(): void {
    this.#socket.destroy();
  }

  async #wait<K>(pending: Map<K, Pending>, key: K, timeoutMs: number): Promise<Incoming> {
    if (this.#lost !== undefined) throw this.#lost;
    let timer: NodeJS.Timeout | undefined;
    this.#socket.ref();
    try {
      return await new Promise<Incoming>((settle, fail) => {
        pending.set(key, { settle, fail });
        timer = setTimeout(() => fail(new DBusTimeout("", `no answer in ${timeoutMs / 1000} s`)), timeoutMs);
      });
    } finally {
      clearTimeout(timer);
      pending.delete(key);
      if (this.#calls.size + this.#signals.size === 0) this.#socket.unref();
    }
  }

  #receive(bytes: Uint8Array): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    try {
      for (;;) {
        const length = messageLength(this.#received);
        if (length === undefined || this.#received.length < length) return;
        const message = decodeMessage(this.#received.slice(0, length));
        this.#received = this.#received.slice(length);
        const pending =
          message.type === MESSAGE.signal
            ? this.#signals.get(signalKey(message))
            : this.#calls.get(message.replySerial);
        pending?.settle(message);
      }
    } catch (error) {
      this.#socket.destroy();
      this.#lose(new DBusError("", errorText(error)));
    }
  }

  #lose(error: Error): void {
    this.#lost ??= new DBusError("", `the session bus is gone: ${error.message}`);
    for (const pending of [...this.#calls.values(), ...this.#signals.values()]) pending.fail(this.#lost);
  }
}

const BUS = {
  destination: "org.freedesktop.DBus",
  path: "/org/freedesktop/DBus",
  interface: "org.freedesktop.DBus",
} as const;

function signalKey({ path, interface: name, member }: SignalOf): string {
  return `${path} ${name}.${member}`;
}

function namesIn(body: readonly DBusValue[] | undefined): ReadonlySet<string> {
  const [names] = body ?? [];
  return new Set(Array.isArray(names) ? names.filter((name) => typeof name === "string") : []);
}

/** Authenticates by the socket itself ("EXTERNAL"); resolves to the bytes after the handshake. */
function authenticate(socket: Socket): Promise<Uint8Array> {
  const user = Buffer.from(String(process.getuid?.() ?? 0)).toString("hex");
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const onData = (bytes: Buffer): void => {
      received = Buffer.concat([received, bytes]);
      const end = received.indexOf("\r\n");
      if (end < 0 && received.length < MAX_AUTH_LINE) return;
      socket.off("data", onData).off("error", reject).off("close", onClose);
      if (received.toString("latin1").startsWith("OK ")) {
        socket.write("BEGIN\r\n");
        resolve(received.subarray(end + 2));
      } else {
        reject(new Error("the session bus refused this user"));
      }
    };
    const onClose = (): void => reject(new Error("the session bus closed the connection"));
    socket.on("data", onData).once("error", reject).once("close", onClose);
    socket.once("connect", () => socket.write(`\0AUTH EXTERNAL ${user}\r\n`));
  });
}

/** Variables that describe the session. */
export type SessionEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Path of the socket of the user's session bus, with a zero byte in front when it is in the abstract namespace;
 * undefined if there is none. The address comes from the environment, else from the path of a systemd session.
 */
export function sessionBusPath(env: SessionEnvironment): string | undefined {
  const address = env.DBUS_SESSION_BUS_ADDRESS ?? "";
  if (address !== "") return socketOf(address);
  const runtime = env.XDG_RUNTIME_DIR ?? "";
  const path = join(runtime, "bus");
  return runtime !== "" && existsSync(path) ? path : undefined;
}

/** The first local socket of a list of addresses (D-Bus specification, "Server addresses"). */
function socketOf(addresses: string): string | undefined {
  for (const address of addresses.split(";")) {
    const [transport, rest = ""] = address.split(/:(.*)/s);
    if (transport !== "unix") continue;
    const pairs = rest.split(",").map((pair) => pair.split(/=(.*)/s));
    const values = new Map(pairs.map(([key = "", value = ""]) => [key, unescaped(value)]));
    const abstract = values.get("abstract");
    const path = abstract === undefined ? values.get("path") : `\0${abstract}`;
    if (path !== undefined && path !== "") return path;
  }
  return undefined;
}

function unescaped(value: string): string {
  return value.replaceAll(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
