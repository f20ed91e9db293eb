import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { appendFileSync, closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import type { Fixture } from "./fixture.ts";
import { childrenOf } from "./machine-room.ts";
import { freePorts } from "./ports.ts";
import { waitFor } from "./wait.ts";

/** Answers of the API server to other clients than the one under test. */
export interface ForeignAnswer {
  readonly status: number;
  readonly text: string;
}

/** Place of its programs: the command that runs them, and their address. */
export interface KubernetesPlace {
  readonly address: string;
  readonly prefix: readonly string[];
}

/** Addresses of services. */
export const SERVICES = "10.96.0.0/16";

const HERE: KubernetesPlace = { address: "127.0.0.1", prefix: [] };
const LAST_LINES = 1_000;
/** Memory for processor time: the programs, which are Go's, collect garbage less often. */
const LESS_COLLECTION = { GOGC: "400", GOMEMLIMIT: "1GiB" };
const START = { timeoutMs: 120_000, pollMs: 200 };

/**
 * A control plane of Kubernetes with storage, on loopback and in its own folder, and one node whose containers are
 * processes of this machine: real validation, versions, watches and streams, without a privilege.
 */
export class TestKubernetes {
  readonly #binary: string;
  readonly #folder: string;
  readonly #token = randomBytes(16).toString("hex");
  readonly #place: KubernetesPlace;
  #config: string | undefined;
  readonly #ports: readonly [etcd: number, peers: number, server: number, node: number];
  readonly #running = new Map<string, ChildProcess>();

  private constructor(binary: string, folder: string, place: KubernetesPlace, ports: readonly number[]) {
    this.#binary = binary;
    this.#folder = folder;
    this.#place = place;
    const [etcd = 0, peers = 0, server = 0, node = 0] = ports;
    this.#ports = [etcd, peers, server, node];
  }

  /** Ready for calls; everything of it ends with the fixture. */
  static async start(fixture: Fixture, binary: string): Promise<TestKubernetes> {
    const bed = await TestKubernetes.startControlPlane(fixture, binary, HERE);
    bed.run("node", [binary, "node", `127.0.0.1:${bed.#ports[3]}`, bed.#folder]);
    return bed;
  }

  /** The same without a node. */
  static async startControlPlane(fixture: Fixture, binary: string, place: KubernetesPlace): Promise<TestKubernetes> {
    const bed = new TestKubernetes(binary, fixture.tempHome("kubernetes"), place, await freePorts(4));
    fixture.defer(() => Promise.all([...bed.#running.values()].map(ended)));
    bed.#writeKeys();
    bed.#startEtcd();
    await bed.startServer();
    return bed;
  }

  /** Port of the node's own server. */
  get nodePort(): number {
    return this.#ports[3];
  }

  /** A kubeconfig file for its administrator. */
  get config(): string {
    // Written once: a program that has just been started may be reading it.
    this.#config ??= this.#writeConfig("kubeconfig", this.#token);
    return this.#config;
  }

  /** The same for a service account, with its rights alone. */
  async configOf(namespace: string, account: string): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
    const object = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    const { status, text } = await this.call("POST", path, { type: "application/json", object });
    if (status !== 201) throw new Error(`no token of ${account}: ${text.slice(0, LAST_LINES)}`);
    const { token } = JSON.parse(text).status;
    return this.#writeConfig(`kubeconfig-${account}`, token);
  }

  #writeConfig(name: string, token: string): string {
    const path = join(this.#folder, name);
    const text = `apiVersion: v1
kind: Config
current-context: test
contexts: [{ name: test, context: { cluster: test, user: one } }]
clusters: [{ name: test, cluster: { server: "https://${this.#place.address}:${this.#ports[2]}", certificate-authority: server/apiserver.crt } }]
users: [{ name: one, user: { token: ${token} } }]
`;
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  /** Its certificate, which it has signed itself. */
  get certificate(): string {
    return join(this.#folder, "server", "apiserver.crt");
  }

  /** The key that tokens of service accounts are signed with. */
  get accountsKey(): string {
    return join(this.#folder, "accounts.key");
  }

  /** Adds to what a container has printed. */
  print(container: { readonly namespace: string; readonly pod: string; readonly container: string }, text: string) {
    const { namespace, pod, container: name } = container;
    appendFileSync(join(this.#folder, `${namespace}_${pod}_${name}.log`), text);
  }

  async startServer(): Promise<void> {
    const [etcd, , port] = this.#ports;
    const { address } = this.#place;
    const server = this.run("kube-apiserver", [
      this.#binary,
      "kube-apiserver",
      `--etcd-servers=http://127.0.0.1:${etcd}`,
      `--bind-address=${address}`,
      `--advertise-address=${address}`,
      `--secure-port=${port}`,
      `--cert-dir=${join(this.#folder, "server")}`,
      `--token-auth-file=${join(this.#folder, "tokens.csv")}`,
      "--authorization-mode=Node,RBAC",
      `--service-cluster-ip-range=${SERVICES}`,
      // Pods cannot reach an address of loopback, nor does the server announce one.
      `--endpoint-reconciler-type=${this.#place === HERE ? "none" : "lease"}`,
      "--kubelet-preferred-address-types=InternalIP",
      // No client of a test has to wait for its turn.
      "--enable-priority-and-fairness=false",
      "--service-account-issuer=https://kubernetes.default.svc",
      `--service-account-key-file=${this.accountsKey}`,
      `--service-account-signing-key-file=${this.accountsKey}`,
      "--profiling=false",
    ]);
    const ready = async (): Promise<boolean> => {
      if (hasEnded(server)) return true;
      const { status } = await this.call("GET", "/readyz");
      return status === 200;
    };
    await waitFor(ready, "the API server to be ready", START);
    this.mustRun("kube-apiserver");
  }

  /** Ends the API server as a crash does; its storage goes on. */
  async killServer(): Promise<void> {
    await this.kill("kube-apiserver");
  }

  /** Ends one of its programs as a crash does. */
  async kill(part: string): Promise<void> {
    await ended(this.#running.get(part));
  }

  /** A call by another program than the client under test. */
  call(method: string, path: string, body?: { readonly type: string; readonly object: object }) {
    const headers = { authorization: `Bearer ${this.#token}`, ...(body ? { "content-type": body.type } : {}) };
    const ca = existsSync(this.certificate) ? readFileSync(this.certificate) : undefined;
    return new Promise<ForeignAnswer>((resolve, reject) => {
      const sent = request(
        { host: this.#place.address, port: this.#ports[2], method, path, headers, timeout: 30_000, agent: false, ca },
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

  /** Starts one more program where the others run; it ends with them, and its last output is reported if it ends early. */
  run(part: string, command: readonly string[], more: NodeJS.ProcessEnv = {}): ChildProcess {
    const log = openSync(this.#log(part), "a");
    const { PATH = "" } = process.env;
    const [program = "", ...args] = [...this.#place.prefix, ...command];
    const env = { PATH, HOME: this.#folder, ...LESS_COLLECTION, ...more };
    const child = spawn(program, args, { cwd: this.#folder, env, stdio: ["ignore", log, log] });
    closeSync(log);
    child.once("error", (error) => appendFileSync(this.#log(part), error.message));
    this.#running.set(part, child);
    return child;
  }

  /** Throws with its last output if that program has ended. */
  mustRun(part: string): void {
    const child = this.#running.get(part);
    if (child !== undefined && !hasEnded(child)) return;
    throw new Error(`${part} ended: ${readFileSync(this.#log(part), "utf8").slice(-LAST_LINES)}`);
  }

  #writeKeys(): void {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
    const write = (name: string, text: string): void => writeFileSync(join(this.#folder, name), text, { mode: 0o600 });
    write("accounts.key", privateKey.export({ type: "pkcs1", format: "pem" }).toString());
    write("tokens.csv", `${this.#token},admin,admin,"system:masters"\n`);
  }

  #startEtcd(): void {
    const [client, peer] = this.#ports.map((port) => `http://127.0.0.1:${port}`);
    this.run("etcd", [
      this.#binary,
      "etcd",
      `--data-dir=${join(this.#folder, "etcd")}`,
      "--unsafe-no-fsync",
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
      "--log-level=warn",
    ]);
  }

  #log(part: string): string {
    return join(this.#folder, `${part}.log`);
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

async function ended(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || hasEnded(child)) return;
  const over = new Promise((resolve) => child.once("exit", resolve));
  // A command in front of a program is not the program, and ends with it.
  const inner = childrenOf(child.pid ?? 0);
  if (inner.length === 0) child.kill("SIGKILL");
  for (const pid of inner) killed(pid);
  await over;
}

function killed(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself meanwhile.
  }
}
