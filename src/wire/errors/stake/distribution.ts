import { defineErrors } from "../../../util/index.ts";

/** Errors of codespace `distribution`. Numbers never change; up to 13 they equal release 0.42 of the ecosystem. */
export const distributionErrors = defineErrors("distribution", {
  noDelegation: [5, "no delegation distribution info", "svc query staking delegations lists what you have delegated"],
  noValidator: [6, "no validator distribution info", "list them: svc query staking validators"],
  noCommission: [7, "no validator commission to withdraw"],
  withdrawAddressDisabled: [8, "set withdraw address disabled"],
  poolTooSmall: [9, "community pool does not have sufficient coins to distribute"],
  validatorNotFound: [12, "validator does not exist", "list them: svc query staking validators"],
  delegationNotFound: [13, "delegation does not exist"],
  invalidParams: [14, "invalid parameters of distribution"],
  genesis: [15, "invalid genesis state"],
});
