import { request as httpsRequest, type RequestOptions } from "node:https";
import type { BlockList } from "node:net";
import { GatewayClient, type GatewayCredential } from "../../../src/client/index.ts";
import { Gateway, type GatewayLimits, type GatewaySources } from "../../../src/provider/gateway/index.ts";
import type { LeaseKey } from "../../../src/wire/index.ts";
import { untilOk } from "../conformance/index.ts";
import { onChain, type SampleOptions, sampleDeployment } from "./deployment.ts";
import { publish, type TestAccount, type TestCertificate, testAccount, testCertificate } from "./identities.ts";
import { type HarnessOptions, LeaseHarness, PROVIDER } from "./leases.ts";

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

interface GatewayOption {
  /** Whether the gateway also speaks gRPC. */
  readonly grpc?: boolean;
  /** Proxies that send the PROXY protocol. */
  readonly trustedProxies?: BlockList;
  /** Folder of the socket for connections of browsers. */
  readonly browsers?: string;
}

type Method = "lease" | "client" | "request" | "close" | "credential" | "run" | "dropStreams";

/** A provider's gateway in the process, a tenant with a certificate and a key, and one lease of the tenant. */
export class GatewayHarness {
  readonly world: LeaseHarness;
  readonly tenant: TestAccount;
  readonly certificate: TestCertificate;
  readonly port: number;
  readonly gateway: Gateway;
  /** Milliseconds that the gateway's clock is ahead. */
  readonly skew: { ms: number };
  /** The gateway's sources in the rest of the provider; a test may replace their answers. */
  readonly sources: { -readonly [K in keyof GatewaySources]: GatewaySources[K] };

  private constructor(parts: Omit<GatewayHarness, Method>) {
    this.world = parts.world;
    this.tenant = parts.tenant;
    this.certificate = parts.certificate;
    this.port = parts.port;
    this.gateway = parts.gateway;
    this.skew = parts.skew;
    this.sources = parts.sources;
  }

  static async open(
    limits: Partial<GatewayLimits> = {},
    options: HarnessOptions & GatewayOption = {},
  ): Promise<GatewayHarness> {
    const world = new LeaseHarness(options);
    const tenant = testAccount(world.chain);
    const [server, certificate] = await Promise.all([
      testCertificate({ address: PROVIDER, hosts: ["localhost"] }),
      testCertificate({ address: tenant.address }),
    ]);
    publish(world.chain, PROVIDER, server);
    publish(world.chain, tenant.address, certificate);
    const skew = { ms: 0 };
    const sources = { ...SOURCES };
    const gateway = new Gateway({
      host: "127.0.0.1",
      port: 0,
      ...(options.trustedProxies === undefined ? {} : { trustedProxies: options.trustedProxies }),
      ...(options.browsers === undefined ? {} : { browsers: options.browsers }),
      ...(options.grpc === true ? { grpc: { host: "127.0.0.1", port: 0 } } : {}),
      provider: PROVIDER,
      publicHostname: "cluster.example.com",
      version: "v0.0.0",
      certificate: server.certificate,
      privateKey: server.privateKey,
      chain: world.chain,
      leases: world.service,
      driver: world.driver,
      sources,
      log: world.log,
      limits: { chainAge: 0, clusterAge: 0, ...limits },
      now: () => Date.now() + skew.ms,
    });
    return new GatewayHarness({ world, tenant, certificate, gateway, skew, sources, port: await gateway.listen() });
  }

  /** A lease of the tenant that runs. */
  async run(dseq: bigint, sample: SampleOptions = {}): Promise<LeaseKey> {
    const loaded = sampleDeployment(sample);
    const id = this.lease(dseq);
    this.world.chain.win(id, onChain(loaded));
    await this.world.service.manifestReceived(this.tenant.address, dseq, loaded.manifest);
    await untilOk(this.world.driver, id);
    return id;
  }

  lease(dseq: bigint, owner = this.tenant.address): LeaseKey {
    return { owner, dseq, gseq: 1, oseq: 1, provider: PROVIDER };
  }

  credential(kind: "certificate" | "token"): GatewayCredential {
    if (kind === "token") return { kind, account: this.tenant.address, sign: (bytes) => this.tenant.sign(bytes) };
    return { kind, certificate: this.certificate.certificate, privateKey: this.certificate.privateKey };
  }

  client(credential?: GatewayCredential): GatewayClient {
    return new GatewayClient({
      provider: PROVIDER,
      hostUri: `https://127.0.0.1:${this.port}`,
      certificateOf: (owner, serial) => this.world.chain.certificate(owner, serial),
      ...(credential === undefined ? {} : { credential }),
    });
  }

  /** A request as any client could send it. */
  request(path: string, options: RequestOptions & { readonly body?: string | Buffer } = {}): Promise<RawAnswer> {
    const { body, ...rest } = options;
    return new Promise((resolve, reject) => {
      const request = httpsRequest(
        { host: "127.0.0.1", port: this.port, path, rejectUnauthorized: false, agent: false, ...rest },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () => {
            const text = Buffer.concat(chunks).toString("utf8");
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
          });
        },
      );
      request.on("error", reject);
      request.end(body);
    });
  }

  /** Breaks all connections off. */
  dropStreams(): void {
    this.gateway.dropStreams();
  }

  async close(): Promise<void> {
    await this.gateway.close();
    await this.world.close();
  }
}

const SOURCES: GatewaySources = {
  inventory: () => ({
    active: [{ cpu: 100n, memory: 1n << 25n, storage: 1n << 26n, gpu: 0n }],
    pending: [],
    available: [{ name: "node", cpu: 900n, memory: 1n << 60n, storage: 1n << 40n, gpu: 0n }],
    leasedIps: { total: 4, left: 3 },
  }),
  orderCount: () => 2,
  refusals: () => ({ "the price is too high": 3 }),
  order: ({ dseq }) => (dseq === 77n ? { phase: "refused", reason: "the price is too high", final: true } : undefined),
  outboxDepth: () => 1,
  price: async () => ({ denom: "utoken", amount: "12.5" }),
  screen: async () => ({ bid: true as const, price: { denom: "utoken", amount: "12.5" } }),
};
