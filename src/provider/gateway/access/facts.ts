import type { CertificateRecord, LeaseRecord } from "../../../client/index.ts";
import {
  formatCertificateId,
  formatLeaseId,
  type LeaseKey,
  type PublicKey,
  parseCertificateId,
  parseLeaseId,
} from "../../../wire/index.ts";
import type { ChainView } from "../../chain.ts";
import { gatewayErrors } from "../errors.ts";
import { Memo } from "./memo.ts";

/** The facts that decide who may do what. Rejects with `chainUnreachable` if the chain could not be asked. */
export class ChainFacts {
  readonly #certificates: Memo<CertificateRecord | undefined>;
  readonly #keys: Memo<PublicKey | undefined>;
  readonly #leases: Memo<LeaseRecord | undefined>;

  constructor(chain: ChainView, ageMs: number, now: () => number) {
    this.#certificates = new Memo(
      (key) => {
        const { owner, serial } = parseCertificateId(key);
        return asked(() => chain.certificate(owner, serial));
      },
      ageMs,
      now,
    );
    this.#keys = new Memo((address) => asked(() => chain.publicKey(address)), ageMs, now);
    this.#leases = new Memo((key) => asked(() => chain.lease(parseLeaseId(key))), ageMs, now);
  }

  certificate(owner: string, serial: string): Promise<CertificateRecord | undefined> {
    return this.#certificates.get(formatCertificateId({ owner, serial }));
  }

  publicKey(address: string): Promise<PublicKey | undefined> {
    return this.#keys.get(address);
  }

  /** Whether the lease is in force. */
  async isActive(id: LeaseKey): Promise<boolean> {
    return (await this.#leases.get(formatLeaseId(id)))?.state === "active";
  }
}

async function asked<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw gatewayErrors.chainUnreachable(undefined, { cause });
  }
}
