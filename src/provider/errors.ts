import { defineErrors } from "../util/index.ts";

/** Why a provider does not start. */
export const daemonErrors = defineErrors("daemon", {
  notRegistered: [
    1,
    "the account is not registered as a provider",
    "register it: svc tx provider create <file> --from <key> --fees 5000utoken",
  ],
  noDeposit: [2, "the chain has no default deposit for bids", "give one with --bid-deposit, for example 5000000utoken"],
  damagedFile: [3, "a file of the provider is damaged", "move it away to start without it"],
  lostBlocks: [4, "blocks can no longer be followed", "start the provider again; its containers keep running"],
  badDeposit: [5, "the deposit of bids is too small", "leave out --bid-deposit to pay the minimum of the chain"],
  unreadable: [6, "a file of the provider cannot be read", "the text before it says why; nothing was changed"],
  certificate: [
    7,
    "tenants would not trust the server certificate",
    "put it on the chain, or make a new one: svc tx cert create server <host> --from <key> --fees 5000utoken",
  ],
  otherGenesis: [
    8,
    "the chain is not the one that the workloads here belong to",
    "end them first, each with: svc provider evict <lease>, or all with: svc provider purge",
  ],
});
