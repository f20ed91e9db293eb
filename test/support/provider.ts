import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openDockerDriver } from "../../src/provider/cluster/docker/index.ts";
import { endPlane } from "../../src/provider/index.ts";
import type { TestKey } from "../../src/testing/index.ts";
import type { TestEngine } from "../e2e/engine.ts";
import type { Fixture } from "./fixture.ts";
import type { TestNode } from "./node.ts";
import { freePorts } from "./ports.ts";
import { type SvcRequest, svcOk } from "./run-svc.ts";
import { mustSend, transfer } from "./signer.ts";
import type { SvcProcess } from "./svc-process.ts";

export interface ProviderRequest {
  readonly name: string;
  readonly node: TestNode;
  /** Runs its containers, unless flags name another cluster. */
  readonly engine?: TestEngine;
  /** Pays for everything. */
  readonly faucet: TestKey;
  readonly funds?: bigint;
  /** Utoken per block and thousandth of a core: what makes one provider cheaper than another. */
  readonly cpuScale?: string;
  readonly flags?: readonly string[];
  /** Attributes of its registration, besides its name. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** Variables of its process. */
  readonly env?: Readonly<Record<string, string>>;
  /** The path of another build of the program, which makes the home and runs first. */
  readonly main?: string;
}

/** How a process of the provider is started. */
type Launch = Pick<SvcRequest, "nodeFlags" | "main">;

const FUNDS = 1_000_000_000n;
const KEYRING = ["--keyring-backend", "test"];
/** With many leases on a busy machine the engine alone takes half a minute to list what exists. */
const START_MS = 180_000;
/** Node ports of each provider in this process; ranges of parallel test runs start elsewhere. */
const NODE_PORTS = 100;
/** Containers by which the provider tries its host. */
const TRIAL = "0/";
let nextNodePort = 20_000 + (process.pid % 300) * NODE_PORTS;

/** A provider in its own process, on its own home that survives restarts. */
export class TestProvider {
  readonly home: string;
  readonly address: string;
  /** Where its ingress listens, without TLS. */
  readonly ingressPort: number;
  readonly #fixture: Fixture;
  readonly #request: ProviderRequest;
  readonly #args: readonly string[];
  #process: SvcProcess | undefined;

  constructor(
    fixture: Fixture,
    request: ProviderRequest,
    parts: { home: string; address: string; ingressPort: number; args: readonly string[] },
  ) {
    this.#fixture = fixture;
    this.#request = request;
    this.home = parts.home;
    this.address = parts.address;
    this.ingressPort = parts.ingressPort;
    this.#args = parts.args;
  }

  get process(): SvcProcess {
    if (this.#process === undefined) throw new Error("the provider was not started");
    return this.#process;
  }

  /** Starts the process and waits until it takes part in the market. */
  async start(how: Launch = {}): Promise<void> {
    await this.launch(how);
    await this.process.line(/provider started/, START_MS);
  }

  /** Starts the process and does not wait. */
  async launch(how: Launch = {}): Promise<void> {
    this.#process = await this.#fixture.start(this.#request.name, this.#args, {
      env: this.#request.env ?? {},
      ...how,
      home: this.home,
    });
  }

  /** Ids of the containers of tenants, running or not, by lease and replica. */
  async containers(): Promise<Map<string, string>> {
    const format =
      '{{.ID}} {{index .Labels "svc.lease.dseq"}}/{{index .Labels "svc.service"}}/{{index .Labels "svc.replica"}}';
    const text = await this.#podman("ps", "--all", "--no-trunc", ...this.#mine(), "--format", format);
    const found = lines(text).map((line) => [line.split(" ")[1] ?? "", line.split(" ")[0] ?? ""] as const);
    return new Map(found.filter(([name]) => !name.startsWith(TRIAL)));
  }

  /** The moments at which the containers of tenants began, by their ids. */
  async started(): Promise<Map<string, string>> {
    const ids = [...(await this.containers()).values()];
    const text = await this.#podman("inspect", "--format", "{{.Id}} {{.State.StartedAt}}", ...ids);
    return new Map(lines(text).map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)]));
  }

  /** Names of its containers and networks on the engine. */
  async leftovers(): Promise<string[]> {
    const containers = await this.#podman("ps", "--all", ...this.#mine(), "--format", "{{.Names}}");
    const networks = await this.#podman("network", "ls", ...this.#mine(), "--format", "{{.Name}}");
    return [...lines(containers), ...lines(networks)];
  }

  /** Removes the provider's objects from the engine. */
  async purge(): Promise<void> {
    await endPlane(join(this.home, "provider"));
    const stateDir = join(this.home, "provider", "engine");
    const { engine } = this.#request;
    if (engine === undefined || !existsSync(stateDir)) return;
    const driver = await openDockerDriver({ socket: engine.socket, stateDir });
    await driver.purge();
    await driver.close();
  }

  #podman(...args: readonly string[]): Promise<string> {
    const { engine } = this.#request;
    if (engine === undefined) throw new Error("the provider has no container engine");
    return engine.podman(...args);
  }

  /** The engine belongs to the test; the provider's address identifies the owner of an object. */
  #mine(): string[] {
    return ["--filter", `label=svc.lease.provider=${this.address}`];
  }
}

/** Makes a provider's home, key, registration and certificate with the commands of the guide, and starts it. */
export async function startProvider(fixture: Fixture, request: ProviderRequest): Promise<TestProvider> {
  const { name, node, faucet, engine, funds = FUNDS, cpuScale = "0.01" } = request;
  const home = fixture.tempHome(name);
  const program = request.main === undefined ? {} : { main: request.main };
  await svcOk(["keys", "add", name, "--home", home, ...KEYRING], program);
  const address = (await svcOk(["keys", "show", name, "-a", "--home", home, ...KEYRING], program)).trim();
  const client = node.client();
  await mustSend(client, faucet, transfer(faucet.address, address, funds)).finally(() => client.close());
  const [gateway = 0, ingress = 0] = await freePorts(2);
  const file = join(home, "provider.yaml");
  const attributes = Object.entries({ host: name, ...request.attributes }).map(([key, value]) => ({ key, value }));
  // JSON is YAML too.
  writeFileSync(file, JSON.stringify({ host: `https://localhost:${gateway}`, attributes }));
  const chain = ["--home", home, "--chain-id", node.chainId, "--node", node.address, "--from", name, ...KEYRING];
  const block = ["--fees", "5000utoken", "-b", "block", "-y"];
  await svcOk(["tx", "provider", "create", file, ...chain, ...block], program);
  await svcOk(["tx", "cert", "create", "server", "localhost", ...chain, ...block], program);
  const args = [
    ...["provider", "run", ...chain, "--fees", "1000utoken", "--cluster-local-images", "--ingress-loopback-ports"],
    ...(engine === undefined ? [] : onEngine(engine)),
    ...["--deployment-ingress-domain", "localhost", "--ingress-listen-address", `127.0.0.1:${ingress}`],
    ...["--gateway-listen-address", `127.0.0.1:${gateway}`, "--bid-price-cpu-scale", cpuScale],
    ...(request.flags ?? []),
  ];
  const provider = new TestProvider(fixture, request, { home, address, ingressPort: ingress, args });
  fixture.defer(() => provider.purge());
  await provider.start(program);
  return provider;
}

function onEngine(engine: TestEngine): string[] {
  const firstPort = nextNodePort;
  nextNodePort += NODE_PORTS;
  const ports = `${firstPort}-${firstPort + NODE_PORTS - 1}`;
  const place = ["--cluster-engine", engine.socket, "--cluster-public-hostname", "localhost"];
  return [...place, "--cluster-node-port-range", ports];
}

function lines(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}
