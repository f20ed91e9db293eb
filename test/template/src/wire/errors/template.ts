import { defineErrors } from "../../util/index.ts";

export const templateErrors = defineErrors("template", {
  invalidAddress: [1, "invalid address"],
  notFound: [2, "note not found", "write one with: svc tx template set <text>"],
  text: [3, "invalid text", "write 1 to 256 characters"],
  invalidParams: [4, "invalid parameters"],
});
