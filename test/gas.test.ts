import { expect, test } from "vitest";
import { standardModules } from "../src/app/index.ts";
import { CASES, NOT_MEASURED } from "./gas/cases/index.ts";

const messages = standardModules().modules.flatMap(({ msg }) =>
  (msg?.service.methods ?? []).map(({ input }) => input.typeName),
);

test("the worst content of every message is measured, or a reason is given why not", () => {
  const rows = [...Object.keys(CASES), ...Object.keys(NOT_MEASURED)];
  expect(messages.filter((name) => !rows.includes(name))).toEqual([]);
  expect(rows.filter((name) => !messages.includes(name))).toEqual([]);
  expect(rows).toHaveLength(new Set(rows).size);
});

test("every message of the marketplace that users send is measured", () => {
  const sent = messages.filter((name) => name.startsWith("svc.") && !name.endsWith(".MsgUpdateParams"));
  expect(sent.filter((name) => !(name in CASES))).toEqual([]);
});
