import { readFile } from "node:fs/promises";
import { connect } from "node:net";

/** Whether a program accepts connections on one of its ports, and otherwise the known reason. */
export interface PortCheck {
  readonly ready: boolean;
  readonly reason?: string;
}

const LISTEN = "0A";
const CONNECT_TIMEOUT_MS = 1_000;
/** A relay in front of a closed port closes the connection within this time. */
const HANGUP_MS = 50;

/**
 * Looks whether one of the ports is being listened on. Where the process is visible, the kernel's socket table of its network
 * namespace tells without disturbing the program; otherwise the published port is tried.
 */
export async function checkPorts(
  pid: number,
  ports: readonly number[],
  published: ReadonlyMap<string, number>,
): Promise<PortCheck> {
  const listeners = await listeningPorts(pid);
  if (listeners === undefined) return tryPublished(ports, published);
  if (ports.some((port) => listeners.open.has(port))) return { ready: true };
  const local = ports.find((port) => listeners.loopback.has(port));
  if (local !== undefined) {
    return { ready: false, reason: `the program listens on 127.0.0.1:${local} only; make it listen on 0.0.0.0` };
  }
  return { ready: false, reason: `nothing listens on port ${ports.join(" or ")} yet` };
}

interface Listeners {
  readonly open: ReadonlySet<number>;
  readonly loopback: ReadonlySet<number>;
}

async function listeningPorts(pid: number): Promise<Listeners | undefined> {
  try {
    const tables = await Promise.all(
      ["tcp", "tcp6"].map((name) =>
        readFile(`/proc/${pid}/net/${name}`, "utf8").catch((error: NodeJS.ErrnoException) => {
          // A kernel without IPv6 has no second table.
          if (name === "tcp6" && error.code === "ENOENT") return "";
          throw error;
        }),
      ),
    );
    return parseSocketTable(tables.join("\n"));
  } catch {
    return undefined;
  }
}

/** Reads the format of `/proc/net/tcp`: local address and port in hex, state 0A means listening. */
export function parseSocketTable(text: string): Listeners {
  const open = new Set<number>();
  const loopback = new Set<number>();
  for (const line of text.split("\n")) {
    const match = /^\s*\d+:\s+([0-9A-F]+):([0-9A-F]{4})\s+\S+\s+([0-9A-F]{2})\s/.exec(line);
    if (match?.[1] === undefined || match[2] === undefined || match[3] !== LISTEN) continue;
    const port = Number.parseInt(match[2], 16);
    (isLoopback(match[1]) ? loopback : open).add(port);
  }
  return { open, loopback };
}

/** Addresses are in host byte order, word by word. */
function isLoopback(address: string): boolean {
  return /^[0-9A-F]{6}7F$/.test(address) || address === "00000000000000000000000001000000";
}

async function tryPublished(ports: readonly number[], published: ReadonlyMap<string, number>): Promise<PortCheck> {
  const candidates = ports.map((port) => published.get(`${port}/tcp`)).filter((port) => port !== undefined);
  // Ports that are not published cannot be seen from here.
  if (candidates.length === 0) return { ready: true };
  const answers = await Promise.all(candidates.map(accepts));
  if (answers.includes(true)) return { ready: true };
  return { ready: false, reason: `nothing listens on port ${ports.join(" or ")} yet` };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, timeout: CONNECT_TIMEOUT_MS });
    const finish = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", () => setTimeout(() => finish(!socket.readableEnded), HANGUP_MS));
    socket.once("error", () => finish(false));
    socket.once("timeout", () => finish(false));
    socket.resume();
  });
}

const SIGTERM_BIT = 1n << 14n;

/** Whether the process does anything on TERM. The first process of a container ignores it unless it has a handler. */
export async function handlesTerm(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(status)?.[1];
  return caught === undefined || (BigInt(`0x${caught}`) & SIGTERM_BIT) !== 0n;
}
