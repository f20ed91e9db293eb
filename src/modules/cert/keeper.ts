import { create } from "@bufbuild/protobuf";
import { parseCertificatePem } from "../../crypto/index.ts";
import { type Context, type Invariant, paramsItem } from "../../runtime/index.ts";
import {
  addressKey,
  bytesKey,
  checkPrefixes,
  collection,
  index,
  type KeyCodec,
  mappedKey,
  protoValue,
  tupleKey,
  uint8Key,
} from "../../store/index.ts";
import { fromHex, toHex } from "../../util/index.ts";
import {
  type Certificate,
  Certificate_State,
  CertificateSchema,
  ParamsSchema,
} from "../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { decodeAddress, encodeAddress, certErrors as errors } from "../../wire/index.ts";

export const STORE = "cert";

/** Owner's address bytes and the serial number. */
export type CertificateStoreKey = [owner: Uint8Array, serial: bigint];

/** Big-endian digits behind a length byte: numbers sort as numbers. */
const serialKey: KeyCodec<bigint> = mappedKey(bytesKey, {
  to: (serial) => fromHex(evenHex(serial)),
  from: (bytes) => BigInt(`0x${toHex(bytes)}`),
});

/** Certificates of accounts, by owner and serial number. */
export class CertKeeper {
  readonly params = paramsItem({ prefix: 0x00, schema: ParamsSchema });
  readonly certificates = collection({
    name: "certificate",
    prefix: 0x01,
    key: tupleKey(addressKey, serialKey),
    value: protoValue(CertificateSchema),
    notFound: errors.notFound,
    describe: ([, serial]) => `with serial ${serial}`,
    indexes: {
      state: index({ prefix: 0x02, key: tupleKey(uint8Key), of: (value: Certificate) => [value.state] as const }),
      ownerState: index({
        prefix: 0x03,
        key: tupleKey(addressKey, uint8Key),
        of: (value: Certificate, [owner]: CertificateStoreKey) => [owner, value.state] as const,
      }),
    },
  });

  constructor() {
    checkPrefixes({ params: this.params, certificates: this.certificates });
  }

  create(ctx: Context, owner: string, serial: bigint, pem: Pick<Certificate, "cert" | "pubkey">): void {
    const store = ctx.store(STORE);
    const key = certificateKey(owner, serial);
    if (this.certificates.has(store, key)) throw errors.exists(`${owner}/${serial}`);
    this.certificates.set(store, key, create(CertificateSchema, { ...pem, state: Certificate_State.valid }));
    emit(ctx, "certificate-created", owner, serial);
  }

  revoke(ctx: Context, owner: string, serial: bigint): void {
    const store = ctx.store(STORE);
    const key = certificateKey(owner, serial);
    const certificate = this.certificates.require(store, key);
    if (certificate.state === Certificate_State.revoked) throw errors.alreadyRevoked(`${owner}/${serial}`);
    this.certificates.set(store, key, { ...certificate, state: Certificate_State.revoked });
    emit(ctx, "certificate-revoked", owner, serial);
  }
}

export function certInvariants(keeper: CertKeeper): Readonly<Record<string, Invariant>> {
  return {
    "index-state": (ctx) => keeper.certificates.verifyIndexes(ctx.store(STORE))[0],
    records: (ctx) => brokenRecord(keeper, ctx),
  };
}

/** A record is stored under the owner and the serial number that its certificate names, and is valid or revoked. */
function brokenRecord(keeper: CertKeeper, ctx: Context): string | undefined {
  for (const [[owner, serial], { cert, state }] of keeper.certificates.iterate(ctx.store(STORE))) {
    const id = `${encodeAddress(owner, "account")}/${serial}`;
    const named = parseCertificatePem(cert);
    const inside = `${named.commonName}/${named.serial}`;
    if (inside !== id) return `the certificate of ${id} names ${inside}`;
    if (state !== Certificate_State.valid && state !== Certificate_State.revoked) return `${id} has no state`;
  }
  return undefined;
}

export function certificateKey(owner: string, serial: bigint): CertificateStoreKey {
  return [decodeAddress(owner, "account"), serial];
}

function evenHex(value: bigint): string {
  const hex = value.toString(16);
  return hex.length % 2 === 0 ? hex : `0${hex}`;
}

function emit(ctx: Context, action: string, owner: string, serial: bigint): void {
  ctx.events.emit("svc.v1", { module: "cert", action, owner, serial: serial.toString() });
}
