// Written by npm run gen.
import type { ErrorFactory } from "../../util/index.ts";
import { authErrors } from "./auth.ts";
import { authzErrors } from "./authz.ts";
import { bankErrors } from "./bank.ts";
import { feegrantErrors } from "./feegrant.ts";
import { auditErrors } from "./marketplace/audit.ts";
import { certErrors } from "./marketplace/cert.ts";
import { deploymentErrors } from "./marketplace/deployment.ts";
import { escrowErrors } from "./marketplace/escrow.ts";
import { marketErrors } from "./marketplace/market.ts";
import { providerErrors } from "./marketplace/provider.ts";
import { consensusErrors } from "./stake/consensus.ts";
import { distributionErrors } from "./stake/distribution.ts";
import { evidenceErrors } from "./stake/evidence.ts";
import { genutilErrors } from "./stake/genutil.ts";
import { govErrors } from "./stake/gov.ts";
import { mintErrors } from "./stake/mint.ts";
import { slashingErrors } from "./stake/slashing.ts";
import { stakingErrors } from "./stake/staking.ts";
import { upgradeErrors } from "./stake/upgrade.ts";
import { vestingErrors } from "./stake/vesting.ts";

/** The errors of each module, by its codespace. */
export const MODULE_ERRORS: readonly (readonly [string, Readonly<Record<string, ErrorFactory>>])[] = [
  ["auth", authErrors],
  ["authz", authzErrors],
  ["bank", bankErrors],
  ["feegrant", feegrantErrors],
  ["audit", auditErrors],
  ["cert", certErrors],
  ["deployment", deploymentErrors],
  ["escrow", escrowErrors],
  ["market", marketErrors],
  ["provider", providerErrors],
  ["consensus", consensusErrors],
  ["distribution", distributionErrors],
  ["evidence", evidenceErrors],
  ["genutil", genutilErrors],
  ["gov", govErrors],
  ["mint", mintErrors],
  ["slashing", slashingErrors],
  ["staking", stakingErrors],
  ["upgrade", upgradeErrors],
  ["vesting", vestingErrors],
];

export { authErrors } from "./auth.ts";
export { authzErrors } from "./authz.ts";
export { bankErrors } from "./bank.ts";
export { feegrantErrors } from "./feegrant.ts";
export { auditErrors } from "./marketplace/audit.ts";
export { certErrors } from "./marketplace/cert.ts";
export { deploymentErrors } from "./marketplace/deployment.ts";
export { escrowErrors } from "./marketplace/escrow.ts";
export { marketErrors } from "./marketplace/market.ts";
export { providerErrors } from "./marketplace/provider.ts";
export { consensusErrors } from "./stake/consensus.ts";
export { distributionErrors } from "./stake/distribution.ts";
export { evidenceErrors } from "./stake/evidence.ts";
export { genutilErrors } from "./stake/genutil.ts";
export { govErrors } from "./stake/gov.ts";
export { mintErrors } from "./stake/mint.ts";
export { slashingErrors } from "./stake/slashing.ts";
export { stakingErrors } from "./stake/staking.ts";
export { upgradeErrors } from "./stake/upgrade.ts";
export { vestingErrors } from "./stake/vesting.ts";
