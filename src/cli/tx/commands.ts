import { TX_FLAGS } from "../global-flags.ts";
import type { CommandSpec } from "../spec.ts";

/** A module's transactions: those written by hand, then those of its rpcs. */
function moduleGroup(name: string, summary: string, own: readonly CommandSpec[]): CommandSpec {
  const commands = async () => [...own, ...(await import("../generated/tx.ts")).txCommands(name)];
  return { name, summary, commands };
}

function handGroup(name: string, summary: string, own: readonly CommandSpec[]): CommandSpec {
  return { name, summary, commands: async () => own };
}

const SEND: CommandSpec = {
  name: "send",
  args: "<from-key-or-address> <to-address> <amount>",
  summary: "Send coins to an account; --from is ignored",
  flags: TX_FLAGS,
  example: "svc tx bank send alice svc1... 5000000utoken --fees 5000utoken",
  load: async () => (await import("./bank.ts")).bankSend,
};

/** Commands of the group `tx`. */
export const TX_COMMANDS: readonly CommandSpec[] = [
  handGroup("bank", "Send coins", [SEND]),
  moduleGroup("deployment", "Create, fund, change and close deployments", []),
  moduleGroup("market", "Bid on orders, take bids, end leases", []),
  moduleGroup("provider", "Register and change your provider", []),
];
