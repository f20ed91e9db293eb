import { Certificate_State, Query } from "../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import type { QueryClient } from "../chain/query.ts";
import type { GatewayTarget } from "./connect.ts";

/** Looks certificates up on the chain, for `GatewayTarget`. */
export function publishedCertificates(query: Pick<QueryClient, "call">): GatewayTarget["certificateOf"] {
  return async (owner, serial) => {
    const { certificates } = await query.call(Query.method.certificates, { filter: { owner, serial } });
    const found = certificates.find((each) => each.serial === serial)?.certificate;
    if (found === undefined) return undefined;
    return { state: found.state === Certificate_State.valid ? "valid" : "revoked", pem: found.cert };
  };
}
