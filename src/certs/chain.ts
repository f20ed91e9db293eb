import { type ChainQuery, marketReader } from "../client/index.ts";
import { fromUtf8 } from "../util/index.ts";
import type { CertificateFile } from "./file.ts";
import type { ChainRecord } from "./plan.ts";

/** Looks up the certificate of a file on the chain. */
export async function chainRecord(
  chain: { readonly query: ChainQuery },
  owner: string,
  file: CertificateFile,
): Promise<ChainRecord> {
  const { serial } = file.details;
  const found = await marketReader(chain.query).certificate(owner, serial);
  if (found === undefined) return "missing";
  if (found.state !== "valid") return "revoked";
  return fromUtf8(found.pem) === file.certificate ? "valid" : "other";
}
