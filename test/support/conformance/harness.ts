import assert from "node:assert/strict";
import { request } from "node:http";
import { connect } from "node:net";
import { isDeepStrictEqual } from "node:util";
import type { ClusterDriver, LeaseHealth } from "../../../src/provider/cluster/contract/driver.ts";
import type { LeaseKey } from "../../../src/wire/index.ts";
import { serviceOf } from "./samples.ts";

/** A minute and a half: a busy machine may take a minute to start a few containers. */
const ATTEMPTS = 910;
/** Milliseconds between the first attempts, and between later ones. */
const [QUICK, SLOW] = [20, 100];

/** Facilities of a driver's test run. */
export interface ConformanceHarness {
  /** Opens the driver on its state, with three addresses for leases where it can have any; after `close()` a second call is the restarted daemon. */
  open(): Promise<ClusterDriver>;
  /** An image that serves HTTP on port 80 by default and has `sh`, `echo`, `sleep` and `cat`. */
  readonly image: string;
  /** The name of an image that does not exist. */
  readonly missingImage: string;
}

/** One rule that every driver keeps. A case uses its own leases and removes them. */
export interface ConformanceCase {
  readonly name: string;
  run(harness: ConformanceHarness): Promise<void>;
}

/** Waits for the condition on the lease's health; fails with the last health seen. */
export async function untilHealth(
  driver: ClusterDriver,
  id: LeaseKey,
  condition: (health: LeaseHealth) => boolean,
  what: string,
): Promise<LeaseHealth> {
  let health = await driver.status(id);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (condition(health)) return health;
    await pause(Math.min(QUICK * 1.1 ** attempt, SLOW));
    health = await driver.status(id);
  }
  assert.fail(`waited for ${what}, the lease is ${JSON.stringify(health)}`);
}

export function untilOk(driver: ClusterDriver, id: LeaseKey): Promise<LeaseHealth> {
  return untilHealth(driver, id, (health) => health.health === "ok", "health ok");
}

/** Waits until everything runs in the given generation. */
export function untilUpdated(driver: ClusterDriver, id: LeaseKey, generation: number): Promise<LeaseHealth> {
  const done = (health: LeaseHealth) =>
    health.services.every((service) => service.generation === generation && service.updated === service.total);
  return untilHealth(driver, id, done, `generation ${generation}`);
}

/** Asks until the answer is the expected one; fails with the last answer. */
export async function untilEqual<T>(ask: () => Promise<T>, expected: T): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (isDeepStrictEqual(await ask(), expected)) return;
    await pause(Math.min(QUICK * 1.1 ** attempt, SLOW));
  }
  assert.deepEqual(await ask(), expected);
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** The one element of the list. */
export function only<T>(list: readonly T[]): T {
  assert.equal(list.length, 1);
  return list[0] as T;
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Options of a stream: all services, from the beginning to the present. */
export function stream(
  overrides: Partial<Parameters<ClusterDriver["logs"]>[1]> = {},
): Parameters<ClusterDriver["logs"]>[1] {
  return { services: [], follow: false, tail: -1, signal: new AbortController().signal, ...overrides };
}

/** Opens, runs, and always closes again; the given leases are removed first. */
export async function withDriver<T>(
  harness: ConformanceHarness,
  run: (driver: ClusterDriver, leases: LeaseKey[]) => Promise<T>,
): Promise<T> {
  const driver = await harness.open();
  const leases: LeaseKey[] = [];
  try {
    return await run(driver, leases);
  } finally {
    for (const id of leases) await driver.teardown(id);
    await driver.close();
  }
}

/** Runs a command in replica 0 of the service; returns exit code and output. */
export async function execute(
  driver: ClusterDriver,
  id: LeaseKey,
  request: { readonly service: string; readonly command: readonly string[]; readonly input?: string },
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const { service, command, input } = request;
  const session = await driver.exec(id, { service, replica: 0, command, tty: false, stdin: input !== undefined });
  if (input !== undefined) {
    session.write(Buffer.from(input));
    session.endInput();
  }
  const text = { stdout: "", stderr: "" };
  for await (const output of session.output) text[output.stream] += Buffer.from(output.data).toString("utf8");
  return { code: await session.exitCode, ...text };
}

/** Answer of a TCP port to a plain HTTP request. */
export function httpOver(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("GET / HTTP/1.0\r\n\r\n"));
    let answer = "";
    socket.on("data", (chunk) => {
      answer += String(chunk);
    });
    socket.on("end", () => resolve(answer));
    socket.on("error", reject);
  });
}

/** Distinguishes the ready replicas of `web`: by their addresses or, if the cluster routes, by names and restarts. */
export async function readyReplicas(driver: ClusterDriver, id: LeaseKey): Promise<readonly string[]> {
  const { routing } = driver;
  if (routing.ingress === "provider") return routing.backends(id, "web", 80);
  const { services } = await driver.status(id);
  const replicas = services.filter(({ name }) => name === "web").flatMap((service) => service.replicas);
  return replicas.filter(({ ready }) => ready).map(({ name, restarts }) => `${name} ${restarts}`);
}

const HOST = "web.conformance.localhost";

/** The status that port 80 of the service `web` answers with, through the ingress in use. */
export async function pageStatus(driver: ClusterDriver, id: LeaseKey): Promise<number> {
  const { routing } = driver;
  if (routing.ingress === "provider") return statusOf(`http://${routing.backends(id, "web", 80)[0]}/`);
  await routing.route(id, [serviceOf(id, [HOST])]);
  return statusOf(routing.url(HOST));
}

/** The status of a page on this machine, under any host name. */
export function statusOf(url: string): Promise<number> {
  const { port, host, hostname } = new URL(url);
  const options = { host: hostname.endsWith(".localhost") ? "127.0.0.1" : hostname, port, headers: { host } };
  return new Promise((resolve, reject) => {
    request(options, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    })
      .on("error", reject)
      .end();
  });
}
