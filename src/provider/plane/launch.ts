import { type ChildProcess, spawn } from "node:child_process";
import type { Socket as UdpSocket } from "node:dgram";
import { closeSync, openSync, rmSync, statSync } from "node:fs";
import type { Server } from "node:net";
import { join } from "node:path";
import { makePrivateDirectory } from "../../util/index.ts";
import { encodeJson } from "../durable.ts";
import type { Inherited } from "./data-plane.ts";
import { PLANE_FOLDER, PLANE_VARIABLE, type PlaneProgram, type PlaneSettings, type PlaneTable } from "./protocol.ts";

/** The longest time from the start of the process until it reports that it serves. */
const START_MS = 30_000;
const LOG = "plane.log";
/** A larger log begins again. */
export const LOG_BYTES = 1 << 20;

/** A message to a plane over the channel of its start. */
export type LaunchMessage =
  | { readonly kind: "http" | "ports"; readonly key: string }
  | { readonly kind: "start"; readonly text: string };

/** The text of `start`. */
export interface LaunchOrder {
  readonly stateDir: string;
  readonly identity: string;
  readonly settings: PlaneSettings;
  readonly table: PlaneTable;
}

/** The plane's answer: first that it accepts messages, once all of its program is loaded. */
export type LaunchAnswer =
  | { readonly kind: "ready" }
  | { readonly kind: "up" }
  | { readonly kind: "failed"; readonly code: string; readonly port: number | undefined; readonly message: string };

interface SystemCause {
  /** The system's error code. */
  readonly code: string;
  /** On which it could not listen. */
  readonly port: number | undefined;
}

/** A plane could not start. */
export class LaunchFailure extends Error {
  readonly code: string;
  readonly port: number | undefined;

  constructor(message: string, { code, port }: SystemCause) {
    super(message);
    this.name = "LaunchFailure";
    this.code = code;
    this.port = port;
  }
}

/**
 * Starts a plane in its own session, so that neither a signal nor the end of this process reaches it, and hands it
 * the listeners. Resolves when it serves.
 */
export async function launchPlane(program: PlaneProgram, order: LaunchOrder, inherited: Inherited): Promise<void> {
  const folder = join(order.stateDir, PLANE_FOLDER);
  makePrivateDirectory(folder);
  const log = openLog(join(folder, LOG));
  const child = spawn(program.command, program.args, {
    cwd: folder,
    detached: true,
    env: planeEnvironment(process.env),
    stdio: ["ignore", log, log, "ipc"],
  });
  if (typeof log === "number") closeSync(log);
  try {
    await started(child, order, inherited);
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  } finally {
    if (child.connected) child.disconnect();
    child.unref();
  }
}

/** Variables that the system and Node.js need; no key, password or token of the operator is among them. */
const PASSED_ON = /^(PATH|HOME|TZ|LANG|LC_[A-Z]+|TMPDIR|NODE_OPTIONS|NODE_COMPILE_CACHE|UV_[A-Z_]+)$/;

/** This process reads bytes from the whole internet, so it gets only the variables that it needs. */
export function planeEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const passed = Object.entries(env).filter(([name]) => PASSED_ON.test(name));
  return { ...Object.fromEntries(passed), [PLANE_VARIABLE]: "1" };
}

/** A full disk must not keep the plane from starting. */
function openLog(path: string): number | "ignore" {
  try {
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size > LOG_BYTES) rmSync(path);
    return openSync(path, "a", 0o600);
  } catch {
    return "ignore";
  }
}

function started(child: ChildProcess, order: LaunchOrder, inherited: Inherited): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (text: string, cause: SystemCause = { code: "", port: undefined }) =>
      reject(new LaunchFailure(text, cause));
    const timer = setTimeout(() => fail("the data plane did not start in time"), START_MS);
    child.once("exit", (code, signal) => fail(`the data plane ended at its start (${signal ?? code})`));
    child.once("error", (error) => fail(error.message));
    child.on("message", (answer: LaunchAnswer) => {
      if (answer.kind === "ready") return tell(child, order, inherited);
      clearTimeout(timer);
      if (answer.kind === "up") resolve();
      else fail(answer.message, answer);
    });
    child.once("exit", () => clearTimeout(timer));
  });
}

/** Only to a plane that is ready: connections come on a listener as soon as it arrives. */
function tell(child: ChildProcess, order: LaunchOrder, inherited: Inherited): void {
  for (const [key, server] of inherited.http) send(child, { kind: "http", key }, server);
  for (const [key, server] of inherited.ports) send(child, { kind: "ports", key }, server);
  send(child, { kind: "start", text: encodeJson(order) });
}

/** Errors are ignored: a child that has already ended is noticed by its `exit`. */
function send(child: ChildProcess, message: LaunchMessage, handle?: Server | UdpSocket): void {
  child.send(message, handle, () => {});
}
