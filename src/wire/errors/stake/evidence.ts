import { defineErrors } from "../../../util/index.ts";

/** Errors of codespace `evidence`. Numbers never change; up to 5 they equal the ecosystem's. */
export const evidenceErrors = defineErrors("evidence", {
  noHandler: [
    2,
    "unregistered handler for evidence type",
    "do not submit any: the engine itself reports the faults of validators",
  ],
  invalid: [3, "invalid evidence"],
  notFound: [4, "evidence does not exist", "list it with: svc query evidence"],
  exists: [5, "evidence already exists"],
});
