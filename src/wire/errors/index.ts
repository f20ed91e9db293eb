import { type ErrorFactory, sdkErrors } from "../../util/index.ts";
import { auditErrors } from "./audit.ts";
import { authErrors } from "./auth.ts";
import { bankErrors } from "./bank.ts";
import { certErrors } from "./cert.ts";
import { deploymentErrors } from "./deployment.ts";
import { escrowErrors } from "./escrow.ts";
import { marketErrors } from "./market.ts";
import { providerErrors } from "./provider.ts";
import { distributionErrors } from "./stake/distribution.ts";
import { mintErrors } from "./stake/mint.ts";
import { slashingErrors } from "./stake/slashing.ts";
import { stakingErrors } from "./stake/staking.ts";

export type ErrorTable = Readonly<Record<string, ErrorFactory>>;

/** Every error that a transaction or a query of the chain can end with, by codespace. */
export const CHAIN_ERRORS: ReadonlyMap<string, ErrorTable> = new Map<string, ErrorTable>([
  ["sdk", sdkErrors],
  ["audit", auditErrors],
  ["auth", authErrors],
  ["bank", bankErrors],
  ["cert", certErrors],
  ["deployment", deploymentErrors],
  ["escrow", escrowErrors],
  ["market", marketErrors],
  ["provider", providerErrors],
  ["distribution", distributionErrors],
  ["mint", mintErrors],
  ["slashing", slashingErrors],
  ["staking", stakingErrors],
]);

/** How the modules say that a record does not exist. */
export const NOT_FOUND_ERRORS: readonly ErrorFactory[] = [
  sdkErrors.keyNotFound,
  sdkErrors.notFound,
  auditErrors.notFound,
  certErrors.notFound,
  deploymentErrors.notFound,
  deploymentErrors.groupNotFound,
  marketErrors.unknownBid,
  marketErrors.unknownLease,
  marketErrors.orderNotFound,
  marketErrors.bidNotFound,
  marketErrors.leaseNotFound,
  providerErrors.notFound,
];

/** The row of a code that a node told. */
export function chainError(codespace: string, code: number): ErrorFactory | undefined {
  return Object.values(CHAIN_ERRORS.get(codespace) ?? {}).find((row) => row.code === code);
}

export { auditErrors } from "./audit.ts";
export { authErrors } from "./auth.ts";
export { bankErrors } from "./bank.ts";
export { certErrors } from "./cert.ts";
export { deploymentErrors } from "./deployment.ts";
export { escrowErrors } from "./escrow.ts";
export { marketErrors } from "./market.ts";
export { providerErrors } from "./provider.ts";
export { distributionErrors } from "./stake/distribution.ts";
export { mintErrors } from "./stake/mint.ts";
export { slashingErrors } from "./stake/slashing.ts";
export { stakingErrors } from "./stake/staking.ts";
export { wireErrors } from "./wire.ts";
