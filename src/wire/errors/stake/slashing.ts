import { defineErrors } from "../../../util/index.ts";

/** Errors of codespace `slashing`. Numbers never change; up to 8 they equal release 0.42 of the ecosystem. */
export const slashingErrors = defineErrors("slashing", {
  noValidator: [3, "validator does not exist for that address", "list them: svc query staking validators"],
  stillJailed: [4, "validator still jailed; cannot be unjailed", "svc query slashing signing-info shows until when"],
  notJailed: [5, "validator not jailed; cannot be unjailed"],
  noSelfDelegation: [6, "validator has no self-delegation; cannot be unjailed"],
  selfDelegationTooLow: [
    7,
    "validator's self delegation less than minimum; cannot be unjailed",
    "delegate more to it from its operator's account",
  ],
  noSigningInfo: [8, "no validator signing info found"],
  invalidParams: [9, "invalid parameters of slashing"],
});
