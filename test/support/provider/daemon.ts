import { rmSync } from "node:fs";
import { ChainClient, GatewayClient, publishedCertificates, sendTx, type TxSigner } from "../../../src/client/index.ts";
import { type ChainView, chainView } from "../../../src/provider/chain.ts";
import type { ClusterDriver, NodeCapacity, PortRange } from "../../../src/provider/cluster/index.ts";
import type { Finding } from "../../../src/provider/control/index.ts";
import type { ProviderConfig } from "../../../src/provider/daemon/config.ts";
import { type RunningProvider, runProvider } from "../../../src/provider/daemon/run.ts";
import { CONNECTIONS_PER_ADDRESS } from "../../../src/provider/ingress/index.ts";
import { DEFAULT_MONITOR } from "../../../src/provider/leases/index.ts";
import { parseScales, scalePricing } from "../../../src/provider/pricing/index.ts";
import type { LoadedSdl } from "../../../src/sdl/index.ts";
import { type Clock, type LogFields, type Logger, NATIVE_DENOM } from "../../../src/util/index.ts";
import { parseNetworks } from "../../../src/util/servers/index.ts";
import { Query as BankQuery } from "../../../src/wire/gen/sdk/bank/v1beta1/query_pb.js";
import {
  MsgCloseDeploymentSchema,
  MsgCreateDeploymentSchema,
} from "../../../src/wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { Query as EscrowQuery } from "../../../src/wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import { MsgCreateLeaseSchema } from "../../../src/wire/gen/svc/market/v1beta1/tx_pb.js";
import { MsgCreateProviderSchema } from "../../../src/wire/gen/svc/provider/v1beta1/provider_pb.js";
import { type Any, type LeaseKey, type PublicKey, packAny } from "../../../src/wire/index.ts";
import { MemoryCluster } from "../memory-cluster/index.ts";
import { publication, type TestCertificate, testCertificate } from "./identities.ts";
import { OWN_ADDRESS } from "./leases.ts";

interface LogEntry {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
}

/** A key of the node's accounts. */
interface MarketKey {
  readonly address: string;
  readonly publicKey: PublicKey;
  sign(bytes: Uint8Array): Uint8Array;
}

/** The part of a `TestNode` that is used. */
interface MarketNode {
  readonly url: string;
  key(name: string): MarketKey;
}

/** A provider that is registered on the chain of a test node, and a tenant. */
export interface TestMarketplace {
  readonly node: MarketNode;
  readonly provider: TxSigner;
  readonly tenant: MarketKey;
  readonly identity: TestCertificate;
}

interface ProviderChoice {
  /** Name of the provider's key; `alice` unless given. */
  readonly name?: string;
  readonly hostUri?: string;
  readonly attributes?: readonly { readonly key: string; readonly value: string }[];
}

/** Registers a provider with its certificate; `bob` is the tenant. */
export async function testMarketplace(
  node: MarketNode,
  { name = "alice", hostUri = "https://localhost:8443", attributes = [] }: ProviderChoice = {},
): Promise<TestMarketplace> {
  const provider = signerOf(node.key(name));
  const owner = provider.address;
  const identity = await testCertificate({ address: owner, hosts: ["localhost"] });
  const record = packAny(MsgCreateProviderSchema, { owner, hostUri, attributes: [...attributes] });
  await confirmed(node, provider, [record, publication(owner, identity)]);
  return { node, provider, tenant: node.key("bob"), identity };
}

export interface DaemonOptions {
  readonly config: Omit<ProviderConfig, "driver">;
  readonly nodePorts: PortRange;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** Bytes that are free on the disk; asks the system by default. */
  readonly freeDisk?: () => bigint;
  /** Cores of the cluster's one node; 8 unless given. */
  readonly cores?: number;
  /** Findings of the checks for the operator's page. */
  readonly examine?: () => Promise<readonly Finding[]>;
  /** Changes what the daemon's next client of the chain does. */
  readonly change?: (client: ChainClient) => void;
}

/** Settings of a provider that does nothing by the clock, on ports of its own. */
export function quietConfig(stateDir: string): Omit<ProviderConfig, "driver"> {
  const aDay = 86_400_000;
  return {
    stateDir,
    pricing: scalePricing(parseScales({ cpu: "0.01", memory: "0", storage: "0", endpoint: "0", ip: "0" })),
    fee: { denom: NATIVE_DENOM, amount: 1000n },
    gasPrice: 0n,
    bidTimeoutMs: aDay,
    manifestTimeoutMs: aDay,
    withdrawalPeriodMs: aDay,
    tenantAttributes: [],
    overcommit: { cpu: 0, memory: 0, storage: 0 },
    nodePortQuantity: 1000,
    monitor: DEFAULT_MONITOR,
    inventoryPollMs: aDay,
    leastFreeDisk: 0n,
    publicHostname: "localhost",
    ingress: {
      domain: "localhost",
      staticHosts: true,
      host: "127.0.0.1",
      port: 0,
      blockedHosts: [],
      hostnames: { isProven: false, resolvers: [], quarantineMs: 0 },
      loopbackPorts: false,
      clients: {
        connectionsPerAddress: CONNECTIONS_PER_ADDRESS,
        trustedProxies: parseNetworks([]),
        forwardedFrom: parseNetworks([]),
      },
    },
    gateway: { host: "127.0.0.1", port: 0 },
  };
}

const GIBIBYTE = 1n << 30n;

let lastDeployment = 0n;

/** The whole daemon of a provider on the memory cluster, with the actions of its tenant. */
export class TestDaemon {
  readonly cluster: MemoryCluster;
  readonly driver: ClusterDriver;
  /** Every line of the log, in its order. */
  readonly logs: LogEntry[] = [];
  readonly chain: ChainView;
  readonly #market: TestMarketplace;
  readonly #client: ChainClient;
  readonly #options: DaemonOptions;
  #running: RunningProvider | undefined;

  constructor(market: TestMarketplace, options: DaemonOptions) {
    this.#market = market;
    this.#options = options;
    const { nodePorts, cores } = options;
    this.cluster = new MemoryCluster({
      nodePortAddress: OWN_ADDRESS,
      nodePorts,
      ...(cores === undefined ? {} : { nodes: [nodeOf(BigInt(cores))] }),
    });
    this.driver = this.cluster.open();
    this.#client = new ChainClient(market.node.url);
    this.chain = chainView(this.#client.query);
  }

  async start(): Promise<void> {
    const { node, provider: signer, identity } = this.#market;
    const { config, clock, random, freeDisk, change, examine } = this.#options;
    const client = new ChainClient(node.url);
    change?.(client);
    this.#running = await runProvider({
      config: { ...config, driver: this.driver },
      client,
      signer,
      identity,
      version: "v0.0.0",
      log: recorder(this.logs),
      ...(clock === undefined ? {} : { clock }),
      ...(random === undefined ? {} : { random }),
      ...(freeDisk === undefined ? {} : { freeDisk }),
      ...(examine === undefined ? {} : { examine }),
    });
  }

  /** Ends the daemon; cluster and files stay for the next start. */
  async halt(): Promise<void> {
    await this.#running?.stop();
    this.#running = undefined;
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
    this.#client.close();
    await this.cluster.destroy();
    rmSync(this.#options.config.stateDir, { recursive: true, force: true });
  }

  /** Fields of the latest line with this message. */
  logged(message: string): LogFields | undefined {
    return this.logs.findLast((entry) => entry.message === message)?.fields;
  }

  /**
   * Puts a deployment of the tenant, or of another account, on the chain; returns the key of a lease with this
   * provider.
   */
  async deploy({ groups, hash: version }: LoadedSdl, tenant = this.#market.tenant): Promise<LeaseKey> {
    const { node, provider } = this.#market;
    const id = { owner: tenant.address, dseq: ++lastDeployment };
    const deposit = { denom: NATIVE_DENOM, amount: "5000000" };
    const init = { id, groups: [...groups], version: Uint8Array.from(version), deposit };
    await confirmed(node, signerOf(tenant), [packAny(MsgCreateDeploymentSchema, init)]);
    return { ...id, gseq: 1, oseq: 1, provider: provider.address };
  }

  /** Takes the provider's bid. */
  async lease(bidId: LeaseKey): Promise<void> {
    const { tenant, node } = this.#market;
    await confirmed(node, signerOf(tenant), [packAny(MsgCreateLeaseSchema, { bidId })]);
  }

  /** Ends the deployment of a lease or of an order. */
  async close({ owner, dseq }: LeaseKey): Promise<void> {
    const { tenant, node } = this.#market;
    await confirmed(node, signerOf(tenant), [packAny(MsgCloseDeploymentSchema, { id: { owner, dseq } })]);
  }

  /** The provider's gateway, for its tenant. */
  gateway(port = Number(this.logged("provider started")?.gateway)): GatewayClient {
    const { tenant, provider } = this.#market;
    return new GatewayClient({
      provider: provider.address,
      hostUri: `https://127.0.0.1:${port}`,
      certificateOf: publishedCertificates(this.#client.query),
      credential: { kind: "token", account: tenant.address, sign: async (bytes) => tenant.sign(bytes) },
    });
  }

  /** Total of the provider's bid deposits. */
  async deposits(): Promise<bigint> {
    const filters = { owner: this.#market.provider.address, scope: "bid", state: "open" };
    const { accounts } = await this.#client.query.call(EscrowQuery.method.accounts, filters);
    return accounts.reduce((sum, each) => sum + BigInt(each.balance?.amount ?? "0"), 0n);
  }

  /** Balance of the provider's account. */
  async balance(): Promise<bigint> {
    const { balance } = await this.#client.query.call(BankQuery.method.balance, {
      address: this.#market.provider.address,
      denom: NATIVE_DENOM,
    });
    return BigInt(balance?.amount ?? "0");
  }
}

function nodeOf(cores: bigint): NodeCapacity {
  const storage = [{ classes: "all" as const, bytes: cores * 10n * GIBIBYTE }];
  return { name: "memory", cpu: cores * 1_000n, memory: cores * 2n * GIBIBYTE, storage, gpus: [] };
}

function signerOf({ address, publicKey, ...key }: MarketKey): TxSigner {
  return { address, publicKey, sign: async (bytes) => key.sign(bytes) };
}

async function confirmed(node: MarketNode, signer: TxSigner, messages: readonly Any[]): Promise<void> {
  const client = new ChainClient(node.url);
  try {
    const { code, rawLog } = await sendTx(client, signer, messages, { gas: 1_000_000n });
    if (code !== 0) throw new Error(rawLog);
  } finally {
    client.close();
  }
}

function recorder(logs: LogEntry[], always: LogFields = {}): Logger {
  const add =
    (level: string) =>
    (message: string, fields: LogFields = {}): void =>
      void logs.push({ level, message, fields: { ...always, ...fields } });
  const child = (fields: LogFields): Logger => recorder(logs, { ...always, ...fields });
  return { debug: add("D"), info: add("I"), warn: add("W"), error: add("E"), child };
}
