import type { ChainClient } from "../client/index.ts";
import { fromUtf8, isOneOf } from "../util/index.ts";
import {
  type Certificate,
  Certificate_State,
  type CertificateResponse,
  Query,
} from "../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { certErrors } from "../wire/index.ts";
import type { CertificateFile } from "./file.ts";
import type { ChainRecord } from "./plan.ts";

/** What the chain knows of the certificate in a file. */
export async function chainRecord(chain: ChainClient, owner: string, file: CertificateFile): Promise<ChainRecord> {
  const { serial } = file.details;
  const found = await findCertificate(chain, owner, serial);
  if (found === undefined) return "missing";
  if (found.state !== Certificate_State.valid) return "revoked";
  return fromUtf8(found.cert) === file.certificate ? "valid" : "other";
}

async function findCertificate(chain: ChainClient, owner: string, serial: string): Promise<Certificate | undefined> {
  try {
    const { certificates } = await chain.query.call(Query.method.certificates, { filter: { owner, serial } });
    return certificates[0]?.certificate;
  } catch (error) {
    if (isOneOf([certErrors.notFound], error)) return undefined;
    throw error;
  }
}

/** All valid certificates of an account. */
export async function validCertificates(chain: ChainClient, owner: string): Promise<readonly CertificateResponse[]> {
  const filter = { owner, state: "valid" };
  return (await chain.query.call(Query.method.certificates, { filter, pagination: { limit: 1000n } })).certificates;
}
