import type { CommandSpec } from "../command/spec.ts";
import { AUTHZ, BANK, FEEGRANT, VESTING } from "./accounts/commands.ts";
import { FILE_COMMANDS } from "./files/commands.ts";
import { GOV } from "./gov/commands.ts";
import { AUDIT, CERT, DEPLOYMENT, PROVIDER } from "./market/commands.ts";
import { DISTRIBUTION, STAKING } from "./staking/commands.ts";

/** Commands that are more than one rpc, by module: they need a file, several messages or a prompt. */
export const OWN_TXS: Readonly<Record<string, readonly CommandSpec[]>> = {
  audit: AUDIT,
  authz: AUTHZ,
  bank: BANK,
  cert: CERT,
  deployment: DEPLOYMENT,
  distribution: DISTRIBUTION,
  feegrant: FEEGRANT,
  gov: GOV,
  provider: PROVIDER,
  staking: STAKING,
  vesting: VESTING,
};

/** Commands that do not belong to one module. */
export const TX_COMMANDS: readonly CommandSpec[] = FILE_COMMANDS;
