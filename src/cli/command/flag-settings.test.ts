import { describe, expect, test } from "vitest";
import { NODE_SETTINGS } from "../../node/index.ts";
import { asCount, parseCoin, readSetting, type Setting, WrongForm } from "../../util/index.ts";
import { BIDS, FEES } from "../provider/run/bid-settings.ts";
import { CLUSTER, LEASES } from "../provider/run/settings.ts";
import { flagSettings } from "./flag-settings.ts";
import { type FileSettings, NO_SETTINGS, resolveFlags } from "./flags.ts";

type Given = Readonly<Record<string, string | boolean>>;

const source = (setting: Setting, given: Given, env: Record<string, string> = {}, file: FileSettings = NO_SETTINGS) =>
  flagSettings(resolveFlags([setting], new Map(Object.entries(given)), env, file));

const TABLES = { NODE_SETTINGS, FEES, CLUSTER, BIDS, LEASES };
const rows = Object.values(TABLES).flatMap((table): Setting[] => Object.values(table));

describe("a setting", () => {
  const setting = { name: "rpc.most", value: "<n>", summary: "", default: "1", parse: asCount };
  const file = { ...NO_SETTINGS, values: new Map([["rpc.most", "2"]]) };
  const env = { SVC_RPC_MOST: "3" };

  test("is that of the flag, else of the variable, else of the file, else its default", () => {
    const sources = [
      source(setting, { "rpc.most": "4" }, env, file),
      source(setting, {}, env, file),
      source(setting, {}, { SVC_RPC_MOST: "" }, file),
      source(setting, {}),
    ];
    expect(sources.map((from) => readSetting(setting, from))).toEqual([4, 3, 2, 1]);
  });

  test.each([
    [{ "rpc.most": "x" }, {}, NO_SETTINGS, '--rpc.most takes a whole number, not "x"'],
    [{}, { SVC_RPC_MOST: "x" }, NO_SETTINGS, 'SVC_RPC_MOST takes a whole number, not "x"'],
    [{}, {}, { ...file, values: new Map([["rpc.most", "x"]]) }, 'client.toml: rpc.most takes a whole number, not "x"'],
  ])("that cannot be read is told by the name of what holds it", (given, variables, texts, said) => {
    expect(() => readSetting(setting, source(setting, given, variables, texts))).toThrow(said);
  });

  test("is refused with the reason and the remedy of its parser", () => {
    const fees = { name: "fees", value: "<coin>", summary: "", parse: parseCoin };
    expect(() => readSetting(fees, source(fees, { fees: "5" }))).toThrow(/^--fees: invalid coin/);
    const parse = (): never => {
      throw new WrongForm("a host name", "write the name alone");
    };
    const host = { name: "host", value: "<host>", summary: "", parse };
    expect(() => readSetting(host, source(host, { host: "a\n" }))).toThrow(
      expect.objectContaining({ message: '--host takes a host name, not "a\\n"', hint: "write the name alone" }),
    );
  });
});

describe("every setting", () => {
  test.each(rows.map((row) => [row.name, row] as const))("%s takes its own default", (_, row) => {
    expect(() => readSetting(row, source(row, {}))).not.toThrow();
  });

  test.each(rows.filter(({ value }) => value === undefined).map((row) => [row.name, row] as const))(
    "%s is switched on and off",
    (_, row) => {
      expect([true, false].map((given) => readSetting(row, source(row, { [row.name]: given })))).toEqual([true, false]);
    },
  );

  test("stands in one row", () => {
    // Node and provider share some rows.
    const names = [...new Set(rows)].map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
  });
});
