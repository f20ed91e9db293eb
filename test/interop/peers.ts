import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT, waitFor } from "../support/index.ts";

/** As long as the node gives an engine of its own. */
const ENGINE_STOP_MS = 10_000;

/**
 * A release of the ecosystem's reference tool, one of the era of the documented client and one of today; the reference
 * library for proofs; a client of the ecosystem that knows nothing of us; the parts of a cluster; an ACME server; the tool that
 * renders charts; the consensus engine of the ecosystem; a program that keeps the key of its validators; or programs that check and
 * make packages.
 */
export type PeerName =
  | "simd42"
  | "simd53"
  | "ics23"
  | "light"
  | "grpcurl"
  | "schemathesis"
  | "keplr"
  | "kubernetes"
  | "kubernetes-node"
  | "containerd"
  | "kube-router"
  | "traefik"
  | "metallb"
  | "gateway-api"
  | "kwok"
  | "pebble"
  | "helm"
  | "cometbft"
  | "package-checks"
  | "nfpm"
  | "tmkms";

export interface PeerRan {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A reference tool that keeps running, with all its output so far. */
export interface PeerProcess {
  readonly process: ChildProcess;
  readonly output: () => string;
  readonly ended: () => boolean;
}

export interface PeerOptions {
  readonly input?: string;
  /** Bech32 prefix of the network; the tool's own when it is left out. */
  readonly prefix?: string;
  /** Where it runs; the tests' own folder when it is left out. */
  readonly cwd?: string;
  /** Variables beside the path and the home of the tool's own. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A reference tool with its own home directory, so that nothing of the user's is read or written. */
export class Peer {
  readonly name: PeerName;
  readonly home = mkdtempSync(join(tmpdir(), "svc-peer-"));
  readonly binary: string;

  constructor(name: PeerName, binary: string) {
    this.name = name;
    this.binary = binary;
  }

  run(args: readonly string[], options: PeerOptions = {}): Promise<PeerRan> {
    return new Promise((resolve, reject) => {
      const where = options.cwd === undefined ? {} : { cwd: options.cwd };
      // A command that ends soon needs no garbage collection.
      const env = { GOGC: "400", ...this.#env(options) };
      const child = spawn(this.binary, args, { env, stdio: "pipe", ...where });
      let [out, err] = ["", ""];
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        out += text;
      });
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        err += text;
      });
      child.once("error", reject);
      child.once("close", (code) => resolve({ code: code ?? -1, out, err }));
      // It may end before it has read everything.
      child.stdin.on("error", () => undefined);
      child.stdin.end(options.input);
    });
  }

  /** Like `run`; throws with the tool's own output when it fails. Returns standard output. */
  async ok(args: readonly string[], options: PeerOptions = {}): Promise<string> {
    const { code, out, err } = await this.run(args, options);
    if (code !== 0) throw new Error(`${this.name} ${args.join(" ")} ended with ${code}: ${err}${out}`);
    return out;
  }

  /** Starts it as a separate process, which the caller ends. */
  start(args: readonly string[], options: PeerOptions = {}): PeerProcess {
    const where = options.cwd === undefined ? {} : { cwd: options.cwd };
    const child = spawn(this.binary, args, { env: this.#env(options), stdio: ["ignore", "pipe", "pipe"], ...where });
    const said: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => said.push(text));
    }
    child.once("error", (error) => said.push(error.message));
    return {
      process: child,
      output: () => said.join(""),
      ended: () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null,
    };
  }

  #env({ prefix, env }: PeerOptions): Record<string, string> {
    const { PATH = "" } = process.env;
    return { PATH, HOME: this.home, ...env, ...(prefix === undefined ? {} : { PEER_PREFIX: prefix }) };
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** Ends an engine that has lost its application, as who runs it does: it may wait for an answer without end. */
export async function endWithoutApplication(engine: PeerProcess): Promise<void> {
  const late = setTimeout(() => engine.process.kill("SIGKILL"), ENGINE_STOP_MS);
  await waitFor(() => engine.ended(), "the end of the engine");
  clearTimeout(late);
}

/** The tool, built if missing; or why there is none. */
export async function buildPeer(name: PeerName): Promise<Peer | { readonly missing: string }> {
  try {
    const { stdout } = await promisify(execFile)(join(ROOT, "tools", "peers", "build.sh"), [name]);
    return new Peer(name, stdout.trim());
  } catch (error) {
    const text = error instanceof Error && "stderr" in error ? String(error.stderr) : String(error);
    return { missing: text.trim().split("\n").slice(-3).join(" ") };
  }
}
