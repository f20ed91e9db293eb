import { expect, it } from "vitest";
import type { DeploymentLine } from "../../tenant/index.ts";
import { resolveFlags } from "../command/flags.ts";
import { LOG_FLAGS, printLine } from "../provider/client/log-flags.ts";
import { printTable } from "../terminal/output.ts";
import { psTable } from "./commands.ts";

const ERASE = "\u001b[2J\u009b2J";

it("shows a terminal nothing that it would obey, whatever a provider or a node answers", () => {
  const line: Partial<DeploymentLine> = {
    ...{ dseq: "7", state: "active", price_per_month: "", until: "", ports: [], problems: [] },
    ...{ price: { denom: "utoken", amount: "1" }, balance: { denom: "utoken", amount: "1" } },
    ...{ services: [{ name: ERASE, available: 1, total: 1 }], uris: [`http://${ERASE}/`] },
  };
  const said: string[] = [psTable([line as DeploymentLine])];
  const io = { out: (text: string) => said.push(text), err: (text: string) => said.push(text), columns: 80 };
  printTable({ text: "", isCut: false, next: ERASE }, io);
  const flags = resolveFlags(
    [...LOG_FLAGS, { name: "output", value: "<format>", summary: "" }],
    new Map([["output", "json"]]),
    {},
  );
  const json = printLine({ name: "web-0", message: ERASE }, "", flags);
  expect(JSON.parse(json)).toMatchObject({ message: ERASE });
  expect([...said, json].join("").replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
});
