import { defineErrors } from "../../util/index.ts";

const TOP_UP = "add funds with: svc tx deployment deposit <amount> --dseq <n>";

export const errors = defineErrors("escrow", {
  accountExists: [1, "account exists"],
  accountClosed: [2, "account closed"],
  accountNotFound: [3, "account not found"],
  accountOverdrawn: [4, "not enough funds in the escrow account", TOP_UP],
  invalidDenomination: [5, "invalid denomination", "use the denomination in which the account was opened"],
  paymentExists: [6, "payment exists"],
  paymentClosed: [7, "payment closed"],
  paymentNotFound: [8, "payment not found"],
  paymentRateZero: [9, "payment rate zero"],
  invalidPayment: [10, "invalid payment"],
  invalidSettlement: [11, "invalid settlement"],
  invalidAccountId: [12, "invalid account id"],
  invalidAccount: [13, "invalid account"],
  invalidDepositor: [14, "invalid depositor"],
  invalidDeposit: [16, "invalid deposit"],
});
