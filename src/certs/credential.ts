import type { GatewayCredential, TxSigner } from "../client/index.ts";
import { SignMode } from "../wire/index.ts";
import { certificatePath, readCertificateFile } from "./file.ts";
import { openCertificate } from "./issue.ts";

/**
 * How a tenant authenticates to gateways: with the client certificate if the home has one, otherwise with tokens signed
 * by the account's key.
 */
export async function tenantCredential({
  home,
  signer,
}: {
  readonly home: string;
  readonly signer: TxSigner;
}): Promise<GatewayCredential> {
  const { address } = signer;
  const file = await readCertificateFile(certificatePath(home, address, "client"));
  if (file !== undefined) return { kind: "certificate", ...(await openCertificate({ home, kind: "client", signer })) };
  return { kind: "token", account: address, sign: (bytes) => signer.sign(bytes, SignMode.DIRECT) };
}
