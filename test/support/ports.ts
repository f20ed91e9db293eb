import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Below the ports that Linux assigns (32768 and up) and the node ports of providers (30000 and up). */
const FIRST = 12_000;
const LAST = 26_000;
const TRIES = 1000;
/** Default ports of nodes stay below the range from which Linux assigns. */
const MOST_OFFSET = 5_000;
/** Some localnets of tests have other offsets, always the same. */
const LOCALNET_OFFSETS = { first: 500, count: 15 } as const;

/** `SVC_TEST_PORTS` names the folder where test processes with different folders for temporary files have to agree. */
const claims = process.env.SVC_TEST_PORTS ?? join(tmpdir(), "svc-test-ports");
const held: string[] = [];

/**
 * Ports on loopback that nothing listens on, all different. They are this process's until it ends: other test processes
 * that ask here get others, and the kernel gives out none of this range by itself, so that a port that a test found free
 * stays free until the test uses it.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
}

/** One such port. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (claim(port) && (await canListen(port))) return port;
  }
  throw new Error(`no free port between ${FIRST} and ${LAST}: remove ${claims} if no tests run`);
}

/** A number to add to all of the given ports, after which they are free ones of this process. */
export function freeOffset(ports: readonly number[]): Promise<number> {
  return firstFree(ports, () => Math.floor(Math.random() * MOST_OFFSET));
}

/** The same for a localnet, which adds hundreds. */
export function freeLocalnetOffset(ports: readonly number[]): Promise<number> {
  const { first, count } = LOCALNET_OFFSETS;
  return firstFree(ports, () => first + 100 * Math.floor(Math.random() * count));
}

async function firstFree(ports: readonly number[], propose: () => number): Promise<number> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const offset = propose();
    const shifted = ports.map((port) => port + offset);
    if (shifted.every(claim) && (await Promise.all(shifted.map(canListen))).every(Boolean)) return offset;
  }
  throw new Error(`no free ports above ${ports[0]}: remove ${claims} if no tests run`);
}

/**
 * Takes a number for this process until it ends; false if another process has it. A file with the process id per number,
 * created only if missing; the file of a process that has ended is removed.
 */
export function claim(number: number): boolean {
  const path = join(claims, `${number}`);
  mkdirSync(claims, { recursive: true });
  try {
    writeFileSync(path, `${process.pid}`, { flag: "wx" });
  } catch {
    if (!isHeld(path)) rmSync(path, { force: true });
    return false;
  }
  if (held.push(path) === 1) process.once("exit", release);
  return true;
}

function isHeld(path: string): boolean {
  try {
    return isRunning(readFileSync(path, "utf8"));
  } catch {
    return false;
  }
}

/** Whether a process with this id exists, of any user. */
export function isRunning(pid: string): boolean {
  try {
    return process.kill(Number(pid), 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function release(): void {
  for (const path of held) rmSync(path, { force: true });
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
