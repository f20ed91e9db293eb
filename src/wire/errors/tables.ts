// Written by npm run gen.
import type { ErrorFactory } from "../../util/index.ts";
import { auditErrors } from "./audit.ts";
import { authErrors } from "./auth.ts";
import { authzErrors } from "./authz.ts";
import { bankErrors } from "./bank.ts";
import { certErrors } from "./cert.ts";
import { deploymentErrors } from "./deployment.ts";
import { escrowErrors } from "./escrow.ts";
import { feegrantErrors } from "./feegrant.ts";
import { marketErrors } from "./market.ts";
import { providerErrors } from "./provider.ts";
import { distributionErrors } from "./stake/distribution.ts";
import { genutilErrors } from "./stake/genutil.ts";
import { govErrors } from "./stake/gov.ts";
import { mintErrors } from "./stake/mint.ts";
import { slashingErrors } from "./stake/slashing.ts";
import { stakingErrors } from "./stake/staking.ts";
import { vestingErrors } from "./stake/vesting.ts";

/** The errors of each module, by its codespace. */
export const MODULE_ERRORS: readonly (readonly [string, Readonly<Record<string, ErrorFactory>>])[] = [
  ["audit", auditErrors],
  ["auth", authErrors],
  ["authz", authzErrors],
  ["bank", bankErrors],
  ["cert", certErrors],
  ["deployment", deploymentErrors],
  ["escrow", escrowErrors],
  ["feegrant", feegrantErrors],
  ["market", marketErrors],
  ["provider", providerErrors],
  ["distribution", distributionErrors],
  ["genutil", genutilErrors],
  ["gov", govErrors],
  ["mint", mintErrors],
  ["slashing", slashingErrors],
  ["staking", stakingErrors],
  ["vesting", vestingErrors],
];

export { auditErrors } from "./audit.ts";
export { authErrors } from "./auth.ts";
export { authzErrors } from "./authz.ts";
export { bankErrors } from "./bank.ts";
export { certErrors } from "./cert.ts";
export { deploymentErrors } from "./deployment.ts";
export { escrowErrors } from "./escrow.ts";
export { feegrantErrors } from "./feegrant.ts";
export { marketErrors } from "./market.ts";
export { providerErrors } from "./provider.ts";
export { distributionErrors } from "./stake/distribution.ts";
export { genutilErrors } from "./stake/genutil.ts";
export { govErrors } from "./stake/gov.ts";
export { mintErrors } from "./stake/mint.ts";
export { slashingErrors } from "./stake/slashing.ts";
export { stakingErrors } from "./stake/staking.ts";
export { vestingErrors } from "./stake/vesting.ts";
