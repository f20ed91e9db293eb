import { defineModule, type Module } from "../../runtime/index.ts";
import { escrowGenesis } from "./genesis.ts";
import { escrowInvariants } from "./invariants.ts";
import { ESCROW_ACCOUNT, type EscrowBank, type EscrowHooks, EscrowKeeper } from "./keeper.ts";
import { escrowMsgs } from "./msgs.ts";
import { escrowQueries } from "./queries.ts";

export { ESCROW_ACCOUNT, type EscrowBank, type EscrowHooks, EscrowKeeper } from "./keeper.ts";
export {
  type Account,
  accountMessage,
  type Payment,
  paymentMessage,
} from "./records.ts";
export { costOf, earnedBy, exhaustionHeight } from "./settlement.ts";

/** Escrow's functions for other modules. */
export type Escrow = Pick<
  EscrowKeeper,
  | "account"
  | "accrued"
  | "bringUpToDate"
  | "checkFunds"
  | "closeAccount"
  | "closePayment"
  | "closePayments"
  | "count"
  | "deposit"
  | "findPayment"
  | "forgetAccount"
  | "forgetPayment"
  | "maxRecords"
  | "openAccount"
  | "openPayment"
  | "withdraw"
>;

/** Makes the module and its keeper. Its end-block item must run before the market's. */
export function escrowModule(
  bank: EscrowBank,
  hooks: EscrowHooks,
): { readonly keeper: EscrowKeeper; readonly module: Module } {
  const keeper = new EscrowKeeper(bank, hooks);
  const module = defineModule({
    name: "escrow",
    version: 2,
    msg: escrowMsgs(keeper),
    query: escrowQueries(keeper),
    genesis: escrowGenesis(keeper),
    accounts: [{ name: ESCROW_ACCOUNT, permissions: [] }],
    endBlock: (ctx) => void keeper.endBlock(ctx),
    invariants: escrowInvariants(keeper),
  });
  return { keeper, module };
}
