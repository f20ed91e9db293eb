import { defineErrors } from "../../util/index.ts";

export const errors = defineErrors("audit", {
  notFound: [1, "address not found"],
  invalidAddress: [2, "invalid address"],
  attributeNotFound: [3, "attribute not found"],
  attributes: [4, "attribute specification error"],
  unknownProvider: [5, "provider is not registered"],
});
