import { defineErrors } from "../../util/index.ts";

/** Errors of codespace `feegrant`. Numbers never change; they equal release 0.53 of the ecosystem. */
export const feegrantErrors = defineErrors("feegrant", {
  limitExceeded: [2, "fee limit exceeded", "svc query feegrant grant shows what is left"],
  expired: [3, "fee allowance expired", "ask the granter for a new one"],
  invalidDuration: [4, "invalid duration"],
  noAllowance: [5, "no allowance"],
  noMessages: [6, "allowed messages are empty"],
  messageNotAllowed: [7, "message not allowed", "svc query feegrant grant shows the types of messages it pays for"],
});
