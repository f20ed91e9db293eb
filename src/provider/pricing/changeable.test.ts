import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DEC_ONE, silentLogger } from "../../util/index.ts";
import type { RowNeed } from "../inventory/index.ts";
import { ChangeablePrices, parseScales, randomRangePricing, scalePricing } from "./index.ts";

const FLAGS = { cpu: "1", memory: "0", storage: "0", endpoint: "0", ip: "0", tokenUsd: "" };
const ROW: RowNeed = {
  ...{ id: 1, count: 1n, cpu: 100n, memory: 0n, gpu: 0n, gpuKinds: [], volumes: [], endpoints: 0, ports: 0 },
  leasedIps: [],
};
const WISH = { owner: "svc1tenant", rows: [ROW], denom: "utoken", maxPrice: 1_000n * DEC_ONE };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-prices-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const file = () => join(folder, "prices.json");

function open(flags = FLAGS, said: string[] = []): ChangeablePrices {
  const log = { ...silentLogger, warn: (text: string) => void said.push(text) };
  return new ChangeablePrices({ configured: scalePricing(parseScales(flags), flags), folder, log });
}

describe("prices that change while the provider runs", () => {
  it("are in force at once and after a restart, beside those that stay", async () => {
    const prices = open();
    expect(await prices.price(WISH)).toBe(100n * DEC_ONE);
    prices.change({ cpu: "2", endpoint: "5" });
    expect(await prices.price(WISH)).toBe(200n * DEC_ONE);
    prices.change({ cpu: "3" });
    expect(open().flags).toEqual({ ...FLAGS, cpu: "3", endpoint: "5" });
    expect(await open().price(WISH)).toBe(300n * DEC_ONE);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  it("are computed for a change that is not made", async () => {
    const prices = open();
    expect(await prices.changed({ cpu: "5" }).price(WISH)).toBe(500n * DEC_ONE);
    expect(await prices.price(WISH)).toBe(100n * DEC_ONE);
    expect(existsSync(file())).toBe(false);
  });

  it("give way to settings that have changed since", async () => {
    open().change({ cpu: "2" });
    expect(await open({ ...FLAGS, cpu: "7" }).price(WISH)).toBe(700n * DEC_ONE);
    expect(existsSync(file())).toBe(false);
  });

  it.each([
    [{ cpu: "-1" }, "--bid-price-cpu-scale takes a decimal"],
    [{ cpu: "0" }, "at least one bid price"],
    [{ memory: "0.8usd" }, "--bid-price-token-usd"],
  ])("stay as they are where %j cannot be", async (change, reason) => {
    const prices = open();
    expect(() => prices.changed(change)).toThrow(reason);
    expect(() => prices.change(change)).toThrow(reason);
    expect(await prices.price(WISH)).toBe(100n * DEC_ONE);
    expect(existsSync(file())).toBe(false);
  });

  it("are those of the settings where the file is damaged", async () => {
    for (const text of [
      "",
      "{",
      '{"settings":{},"prices":7}',
      JSON.stringify({ settings: FLAGS, prices: { cpu: "x" } }),
    ]) {
      writeFileSync(file(), text);
      const said: string[] = [];
      expect(await open(FLAGS, said).price(WISH)).toBe(100n * DEC_ONE);
      expect([text, said.length]).toEqual([text, 1]);
    }
  });

  it("are no business of a script or of chance", () => {
    const prices = new ChangeablePrices({ configured: randomRangePricing(), folder, log: silentLogger });
    expect(prices.flags).toBeUndefined();
    expect(() => prices.change({ cpu: "1" })).toThrow("--bid-price-strategy scale");
  });
});
