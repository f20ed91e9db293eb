import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { appendFileSync, closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { freePorts } from "../../src/testing/ports.ts";
import type { Fixture } from "./fixture.ts";
import { waitFor } from "./wait.ts";

/** What the API server answers to somebody other than the client under test. */
export interface ForeignAnswer {
  readonly status: number;
  readonly text: string;
}

const LAST_LINES = 1_000;
const START = { timeoutMs: 120_000, pollMs: 200 };

/**
 * A control plane of Kubernetes with storage, on loopback and in a folder of its own, and one node whose containers are
 * processes of this machine: real validation, versions, watches and streams, without a privilege.
 */
export class TestKubernetes {
  readonly #binary: string;
  readonly #folder: string;
  readonly #token = randomBytes(16).toString("hex");
  readonly #ports: readonly [etcd: number, peers: number, server: number, node: number];
  #server: ChildProcess | undefined;

  private constructor(binary: string, folder: string, ports: readonly number[]) {
    this.#binary = binary;
    this.#folder = folder;
    const [etcd = 0, peers = 0, server = 0, node = 0] = ports;
    this.#ports = [etcd, peers, server, node];
  }

  /** Ready for calls; everything of it ends with the fixture. */
  static async start(fixture: Fixture, binary: string): Promise<TestKubernetes> {
    const bed = new TestKubernetes(binary, fixture.tempHome("kubernetes"), await freePorts(4));
    bed.#writeKeys();
    bed.#startEtcd(fixture);
    fixture.defer(() => ended(bed.#server, "SIGKILL"));
    await bed.startServer();
    const node = bed.#run("node", [`127.0.0.1:${bed.#ports[3]}`, bed.#folder]);
    fixture.defer(() => ended(node, "SIGKILL"));
    return bed;
  }

  /** Port of the node's own server. */
  get nodePort(): number {
    return this.#ports[3];
  }

  /** A kubeconfig file for its administrator. */
  get config(): string {
    const path = join(this.#folder, "kubeconfig");
    const text = `apiVersion: v1
kind: Config
current-context: test
contexts: [{ name: test, context: { cluster: test, user: admin } }]
clusters: [{ name: test, cluster: { server: "https://127.0.0.1:${this.#ports[2]}", certificate-authority: server/apiserver.crt } }]
users: [{ name: admin, user: { token: ${this.#token} } }]
`;
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  /** Adds to what a container has printed. */
  print(container: { readonly namespace: string; readonly pod: string; readonly container: string }, text: string) {
    const { namespace, pod, container: name } = container;
    appendFileSync(join(this.#folder, `${namespace}_${pod}_${name}.log`), text);
  }

  async startServer(): Promise<void> {
    const [etcd, , port] = this.#ports;
    const server = this.#run("kube-apiserver", [
      `--etcd-servers=http://127.0.0.1:${etcd}`,
      "--bind-address=127.0.0.1",
      "--advertise-address=127.0.0.1",
      `--secure-port=${port}`,
      `--cert-dir=${join(this.#folder, "server")}`,
      `--token-auth-file=${join(this.#folder, "tokens.csv")}`,
      "--authorization-mode=Node,RBAC",
      "--service-cluster-ip-range=10.96.0.0/16",
      "--endpoint-reconciler-type=none",
      "--service-account-issuer=https://kubernetes.default.svc",
      `--service-account-key-file=${join(this.#folder, "accounts.key")}`,
      `--service-account-signing-key-file=${join(this.#folder, "accounts.key")}`,
      "--profiling=false",
    ]);
    this.#server = server;
    const ready = async (): Promise<boolean> => {
      if (hasEnded(server)) return true;
      const { status } = await this.call("GET", "/readyz");
      return status === 200;
    };
    await waitFor(ready, "the API server to be ready", START);
    if (hasEnded(server)) throw new Error(`the API server ended: ${this.#said("kube-apiserver")}`);
  }

  /** Ends the API server as a crash does; its storage goes on. */
  async killServer(): Promise<void> {
    await ended(this.#server, "SIGKILL");
  }

  /** A call by another program than the client under test. */
  call(method: string, path: string, body?: { readonly type: string; readonly object: object }) {
    const headers = { authorization: `Bearer ${this.#token}`, ...(body ? { "content-type": body.type } : {}) };
    const certificate = join(this.#folder, "server", "apiserver.crt");
    const ca = existsSync(certificate) ? readFileSync(certificate) : undefined;
    return new Promise<ForeignAnswer>((resolve, reject) => {
      const sent = request(
        { host: "127.0.0.1", port: this.#ports[2], method, path, headers, timeout: 30_000, agent: false, ca },
        (answer) => {
          let text = "";
          answer.setEncoding("utf8").on("data", (part: string) => {
            text += part;
          });
          answer.once("error", reject);
          answer.once("end", () => resolve({ status: answer.statusCode ?? 0, text }));
        },
      );
      sent.once("timeout", () => sent.destroy(new Error("no answer in time")));
      sent.once("error", reject).end(body === undefined ? undefined : JSON.stringify(body.object));
    });
  }

  #writeKeys(): void {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
    const write = (name: string, text: string): void => writeFileSync(join(this.#folder, name), text, { mode: 0o600 });
    write("accounts.key", privateKey.export({ type: "pkcs1", format: "pem" }).toString());
    write("tokens.csv", `${this.#token},admin,admin,"system:masters"\n`);
  }

  #startEtcd(fixture: Fixture): void {
    const [client, peer] = this.#ports.map((port) => `http://127.0.0.1:${port}`);
    const etcd = this.#run("etcd", [
      `--data-dir=${join(this.#folder, "etcd")}`,
      "--unsafe-no-fsync",
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
      "--log-level=warn",
    ]);
    fixture.defer(() => ended(etcd, "SIGKILL"));
  }

  #run(part: string, flags: readonly string[]): ChildProcess {
    const log = openSync(join(this.#folder, `${part}.log`), "a");
    const { PATH = "" } = process.env;
    const env = { PATH, HOME: this.#folder };
    const child = spawn(this.#binary, [part, ...flags], { cwd: this.#folder, env, stdio: ["ignore", log, log] });
    closeSync(log);
    child.once("error", (error) => appendFileSync(join(this.#folder, `${part}.log`), error.message));
    return child;
  }

  #said(part: string): string {
    return readFileSync(join(this.#folder, `${part}.log`), "utf8").slice(-LAST_LINES);
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

async function ended(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (child === undefined || hasEnded(child)) return;
  const over = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await over;
}
