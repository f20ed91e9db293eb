import type { PreparedTx } from "./tx.ts";

/** Bytes that a finished transaction has and one sent for simulation may lack; rather too many than too few. */
const SIGNATURE = 66;
const PUBLIC_KEY = 82;
const FEE = 40;
const GAS_LIMIT = 4;

/** How many bytes a simulated transaction will grow by when it is signed and given its fee. */
export function missingBytes({ decoded, signers, fee, gasLimit }: PreparedTx): number {
  const { raw, authInfo } = decoded;
  const unsigned = signers.filter((_, i) => (raw.signatures[i]?.length ?? 0) === 0).length;
  const keyless = signers.filter((_, i) => (authInfo.signerInfos[i]?.publicKey?.value.length ?? 0) === 0).length;
  return unsigned * SIGNATURE + keyless * PUBLIC_KEY + (fee.length === 0 ? FEE : 0) + (gasLimit === 0n ? GAS_LIMIT : 0);
}
