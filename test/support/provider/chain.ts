import type {
  BidRecord,
  CertificateRecord,
  DeploymentRecord,
  GroupRecord,
  LeaseRecord,
  MarketParams,
  PaymentRecord,
  ProviderRecord,
} from "../../../src/client/index.ts";
import type { ChainView, LeaseFilter } from "../../../src/provider/chain.ts";
import type { OpenOrders } from "../../../src/provider/open-orders.ts";
import type { Dec } from "../../../src/util/index.ts";
import type { AuditedAttributes } from "../../../src/wire/gen/svc/audit/v1beta1/audit_pb.js";
import {
  type DeploymentKey,
  formatBidId,
  formatDeploymentId,
  type LeaseKey,
  type PublicKey,
} from "../../../src/wire/index.ts";

/** A chain whose records a test writes. While it is down every call rejects. */
export class FakeChain implements ChainView {
  down = false;
  readonly leases = new Map<string, LeaseRecord>();
  readonly deployments = new Map<string, DeploymentRecord>();
  /** Heights at which deployments had left the state. */
  readonly pruned = new Map<string, bigint>();
  readonly certificates = new Map<string, CertificateRecord>();
  readonly publicKeys = new Map<string, PublicKey>();

  /** Makes an active lease, with its deployment. */
  win(id: LeaseKey, deployment: DeploymentRecord): void {
    const price = { denom: "utoken", amount: 10n ** 18n };
    this.leases.set(formatBidId(id), { id, state: "active", price, createdAt: 5n, closedOn: 0n, closeReason: "" });
    this.deployments.set(formatDeploymentId(id), deployment);
  }

  end(id: LeaseKey, closedOn = 9n): void {
    const lease = this.leases.get(formatBidId(id));
    if (lease !== undefined) this.leases.set(formatBidId(id), { ...lease, state: "closed", closedOn });
  }

  async lease(id: LeaseKey): Promise<LeaseRecord | undefined> {
    this.#ask();
    return this.leases.get(formatBidId(id));
  }

  async activeLeases({ provider, owner, dseq }: LeaseFilter): Promise<readonly LeaseRecord[]> {
    this.#ask();
    return [...this.leases.values()].filter(
      ({ id, state }) =>
        state === "active" &&
        id.provider === provider &&
        (owner === undefined || id.owner === owner) &&
        (dseq === undefined || id.dseq === dseq),
    );
  }

  async deployment(id: DeploymentKey): Promise<DeploymentRecord | undefined> {
    this.#ask();
    return this.deployments.get(formatDeploymentId(id));
  }

  /** Removes a deployment with its leases; `height` is the answer of `prunedAt`, if given. */
  forget(id: LeaseKey, height?: bigint): void {
    this.leases.delete(formatBidId(id));
    this.deployments.delete(formatDeploymentId(id));
    if (height !== undefined) this.pruned.set(formatDeploymentId(id), height);
  }

  async prunedAt(id: DeploymentKey): Promise<bigint | undefined> {
    this.#ask();
    return this.pruned.get(formatDeploymentId(id));
  }

  async group(id: DeploymentKey & { readonly gseq: number }): Promise<GroupRecord | undefined> {
    return (await this.deployment(id))?.groups.find((group) => group.gseq === id.gseq);
  }

  async payment(): Promise<PaymentRecord | undefined> {
    this.#ask();
    return undefined;
  }

  async certificate(owner: string, serial: string): Promise<CertificateRecord | undefined> {
    this.#ask();
    return this.certificates.get(`${owner}/${serial}`);
  }

  async publicKey(address: string): Promise<PublicKey | undefined> {
    this.#ask();
    return this.publicKeys.get(address);
  }

  async provider(): Promise<ProviderRecord | undefined> {
    this.#ask();
    return undefined;
  }

  async auditedAttributes(): Promise<readonly AuditedAttributes[]> {
    this.#ask();
    return [];
  }

  async openOrders(): Promise<OpenOrders> {
    this.#ask();
    return { ids: [], isWhole: true };
  }

  async order(): Promise<undefined> {
    this.#ask();
  }

  async bid(): Promise<BidRecord | undefined> {
    this.#ask();
    return undefined;
  }

  async openBids(): Promise<readonly []> {
    this.#ask();
    return [];
  }

  async openBidPrices(): Promise<readonly Dec[]> {
    this.#ask();
    return [];
  }

  async marketParams(): Promise<MarketParams> {
    this.#ask();
    return { orderMaxBids: 20, bidMinDeposits: [] };
  }

  #ask(): void {
    if (this.down) throw new Error("connection refused");
  }
}
