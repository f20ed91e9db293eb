import {
  type ChainClient,
  GatewayClient,
  type LeaseStatus,
  type PublishedCertificate,
} from "../../src/client/index.ts";
import { type LoadedSdl, loadSdl } from "../../src/sdl/index.ts";
import type { TestKey } from "../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../src/util/index.ts";
import { Certificate_State, Query as CertQuery } from "../../src/wire/gen/svc/cert/v1beta1/cert_pb.js";
import {
  Query as DeploymentQuery,
  type QueryDeploymentResponse,
} from "../../src/wire/gen/svc/deployment/v1beta1/query_pb.js";
import {
  MsgCloseDeploymentSchema,
  MsgCreateDeploymentSchema,
} from "../../src/wire/gen/svc/deployment/v1beta1/tx_pb.js";
import {
  Query as MarketQuery,
  type QueryBidResponse,
  type QueryLeaseResponse,
} from "../../src/wire/gen/svc/market/v1beta1/query_pb.js";
import { MsgCreateLeaseSchema } from "../../src/wire/gen/svc/market/v1beta1/tx_pb.js";
import { Query as ProviderQuery } from "../../src/wire/gen/svc/provider/v1beta1/provider_pb.js";
import { type DeploymentKey, type LeaseKey, type OrderKey, packAny } from "../../src/wire/index.ts";
import { mustSend } from "./signer.ts";
import { waitFor } from "./wait.ts";

const DEPOSIT = 5_000_000n;

/** A deployment of a test, as ordered. */
export interface Ordered {
  readonly id: DeploymentKey;
  readonly order: OrderKey;
  readonly sdl: LoadedSdl;
}

/** A tenant in this process: the client library, one step at a time. */
export class TestTenant {
  readonly key: TestKey;
  readonly client: ChainClient;

  constructor(client: ChainClient, key: TestKey) {
    this.client = client;
    this.key = key;
  }

  /** Creates a deployment of one group. */
  async order(file: string, deposit = DEPOSIT): Promise<Ordered> {
    const sdl = loadSdl(file);
    const { latestHeight } = await this.client.node.status();
    const id = { owner: this.key.address, dseq: latestHeight };
    const message = packAny(MsgCreateDeploymentSchema, {
      id,
      groups: [...sdl.groups],
      version: new Uint8Array(sdl.hash),
      deposit: { denom: NATIVE_DENOM, amount: deposit.toString() },
    });
    await mustSend(this.client, this.key, message);
    return { id, order: { ...id, gseq: 1, oseq: 1 }, sdl };
  }

  /** All bids on a deployment's orders, in whatever state. */
  async bids({ owner, dseq }: DeploymentKey): Promise<readonly QueryBidResponse[]> {
    return (await this.client.query.call(MarketQuery.method.bids, { filters: { owner, dseq } })).bids;
  }

  /** Waits until there are that many bids. */
  awaitBids(id: DeploymentKey, count = 1): Promise<readonly QueryBidResponse[]> {
    const question = async (): Promise<readonly QueryBidResponse[] | undefined> => {
      const bids = await this.bids(id);
      return bids.length >= count ? bids : undefined;
    };
    return waitFor(question, `${count} bids on deployment ${id.dseq}`);
  }

  /** Accepts a provider's bid. */
  async lease(order: OrderKey, provider: string): Promise<LeaseKey> {
    const bidId = { ...order, provider };
    await mustSend(this.client, this.key, packAny(MsgCreateLeaseSchema, { bidId }));
    return bidId;
  }

  /** Hands over the manifest; tried again while the provider is away or has not seen the lease. */
  async sendManifest({ id, sdl }: Ordered, provider: string): Promise<void> {
    const gateway = await this.gateway(provider);
    await waitFor(
      () => gateway.sendManifest(id.dseq, sdl.manifest).then(() => true),
      `the manifest of ${id.dseq} to be taken`,
      { pollMs: 200 },
    );
  }

  async status(lease: LeaseKey): Promise<LeaseStatus> {
    return (await this.gateway(lease.provider)).leaseStatus(lease);
  }

  /** Waits until every replica is ready; the address that opens on this machine. */
  awaitReady(lease: LeaseKey): Promise<string> {
    const question = async (): Promise<string | undefined> => {
      const services = Object.values((await this.status(lease)).services);
      const ready = services.every(({ available, total }) => total > 0 && available === total);
      return ready ? (services[0]?.urls ?? []).find((url) => /127\.0\.0\.1/.test(url)) : undefined;
    };
    return waitFor(question, `deployment ${lease.dseq} to be ready`, { pollMs: 100 });
  }

  async close(id: DeploymentKey): Promise<bigint> {
    return (await mustSend(this.client, this.key, packAny(MsgCloseDeploymentSchema, { id }))).height;
  }

  leaseOf(id: LeaseKey): Promise<QueryLeaseResponse> {
    return this.client.query.call(MarketQuery.method.lease, { id });
  }

  deployment(id: DeploymentKey): Promise<QueryDeploymentResponse> {
    return this.client.query.call(DeploymentQuery.method.deployment, { id });
  }

  /** A client of the provider's gateway that proves itself with tokens of the account's key. */
  async gateway(provider: string): Promise<GatewayClient> {
    const record = await this.client.query.call(ProviderQuery.method.provider, { owner: provider });
    const hostUri = record.provider?.hostUri ?? "";
    const credential = {
      kind: "token" as const,
      account: this.key.address,
      sign: (bytes: Uint8Array) => this.key.sign(bytes),
    };
    return new GatewayClient({ provider, hostUri, credential, certificateOf: (...id) => this.#certificate(...id) });
  }

  async #certificate(owner: string, serial: string): Promise<PublishedCertificate | undefined> {
    const { certificates } = await this.client.query.call(CertQuery.method.certificates, { filter: { owner, serial } });
    const found = certificates.find((each) => each.serial === serial)?.certificate;
    if (found === undefined) return undefined;
    return { state: found.state === Certificate_State.valid ? "valid" : "revoked", pem: found.cert };
  }
}
