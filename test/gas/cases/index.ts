import { ALLOWANCES } from "./allowances.ts";
import { BANK } from "./bank.ts";
import { CERTIFICATES } from "./certificates.ts";
import { DEPLOYMENTS } from "./deployments.ts";
import { GOVERNANCE } from "./governance.ts";
import { GRANTS } from "./grants.ts";
import { MARKET } from "./market.ts";
import type { Cases } from "./prepare.ts";
import { PROVIDER_CASES } from "./providers.ts";
import { DISTRIBUTION, STAKING } from "./staking.ts";
import { LOCKED_SENDS, VESTING } from "./vesting.ts";

export { crowd, databases, deployed, type GasCase, newChain, TENANT, withBids } from "./prepare.ts";

/** The most expensive valid contents of every message, whose CPU time for their gas is measured and compared. */
export const CASES: Cases = {
  ...BANK,
  "sdk.bank.v1beta1.MsgSend": [...(BANK["sdk.bank.v1beta1.MsgSend"] ?? []), ...LOCKED_SENDS],
  ...VESTING,
  ...GOVERNANCE,
  ...CERTIFICATES,
  ...GRANTS,
  ...ALLOWANCES,
  ...PROVIDER_CASES,
  ...DEPLOYMENTS,
  ...MARKET,
  ...STAKING,
  ...DISTRIBUTION,
};

const parametersChange = "nobody can send it: a module's account would have to sign";

/** Messages without a measured content, and why. */
export const NOT_MEASURED: Readonly<Record<string, string>> = {
  "sdk.consensus.v1.MsgUpdateParams": parametersChange,
  "sdk.evidence.v1beta1.MsgSubmitEvidence": "always refused: the chain has no handler for evidence of accounts",
  "sdk.gov.v1.MsgUpdateParams": parametersChange,
  "sdk.gov.v1.MsgExecLegacyContent": parametersChange,
  "sdk.auth.v1beta1.MsgUpdateParams": parametersChange,
  "sdk.bank.v1beta1.MsgSetSendEnabled": parametersChange,
  "sdk.bank.v1beta1.MsgUpdateParams": parametersChange,
  "svc.audit.v1beta1.MsgUpdateParams": parametersChange,
  "svc.cert.v1beta1.MsgUpdateParams": parametersChange,
  "svc.deployment.v1beta1.MsgUpdateParams": parametersChange,
  "svc.escrow.v1beta1.MsgUpdateParams": parametersChange,
  "svc.market.v1beta1.MsgUpdateParams": parametersChange,
  "svc.provider.v1beta1.MsgUpdateParams": parametersChange,
  "sdk.staking.v1beta1.MsgUpdateParams": parametersChange,
  "sdk.mint.v1beta1.MsgUpdateParams": parametersChange,
  "sdk.slashing.v1beta1.MsgUpdateParams": parametersChange,
  "sdk.distribution.v1beta1.MsgUpdateParams": parametersChange,
  "sdk.distribution.v1beta1.MsgCommunityPoolSpend": parametersChange,
  "sdk.upgrade.v1beta1.MsgSoftwareUpgrade": parametersChange,
  "sdk.upgrade.v1beta1.MsgCancelUpgrade": parametersChange,
};
