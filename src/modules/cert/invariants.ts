import { parseCertificatePem } from "../../crypto/index.ts";
import type { Context, Invariant } from "../../runtime/index.ts";
import { Certificate_State } from "../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { encodeAddress } from "../../wire/index.ts";
import { type CertKeeper, STORE } from "./keeper.ts";

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
