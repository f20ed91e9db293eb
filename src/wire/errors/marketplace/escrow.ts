import { defineErrors } from "../../../util/index.ts";

const TOP_UP = "add funds with: svc tx deployment deposit <amount> --dseq <n>";

export const escrowErrors = defineErrors("escrow", {
  accountExists: [1, "account exists"],
  accountClosed: [2, "account closed", "see why: svc query escrow accounts --owner <address>"],
  accountNotFound: [3, "account not found", "list them: svc query escrow accounts --owner <address>"],
  accountOverdrawn: [4, "not enough funds in the escrow account", TOP_UP],
  invalidDenomination: [5, "invalid denomination", "use the denomination in which the account was opened"],
  paymentExists: [6, "payment exists"],
  paymentClosed: [7, "payment closed", "the lease has ended, and everything is paid"],
  paymentNotFound: [8, "payment not found", "list them: svc query escrow payments --owner <provider>"],
  paymentRateZero: [9, "payment rate zero"],
  invalidPayment: [10, "invalid payment"],
  invalidSettlement: [11, "invalid settlement"],
  invalidAccountId: [12, "invalid account id"],
  invalidAccount: [13, "invalid account"],
  invalidDepositor: [14, "invalid depositor"],
  invalidDeposit: [16, "invalid deposit"],
  invalidParams: [17, "parameter invalid"],
});
