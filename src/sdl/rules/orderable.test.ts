import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { SdlError, type SdlIssue } from "../errors.ts";
import { type LoadOptions, loadSdl, requireOrderable } from "../load.ts";
import { type ChainTerms, DEFAULT_TERMS } from "./orderable.ts";

const WEB = readFileSync(join(resolve(import.meta.dirname, "../../.."), "test/vectors/sdl/web.yaml"), "utf8");
const FOREIGN = "cosmos1vqekc49ukm8gu5xsn7dwsdduqan5rjw0mzh4y6";

const signed = (address: string) =>
  WEB.replace("      pricing:", `      signedBy: {anyOf: [${address}]}\n      pricing:`);
const inCoin = (denom: string) => WEB.replace("denom: utoken", `denom: ${denom}`);
const reading = WEB.replace("    expose:", "    params: {permissions: {read: [logs]}}\n    expose:");

function faults(text: string, options: LoadOptions): readonly SdlIssue[] {
  try {
    loadSdl(text, options);
  } catch (error) {
    if (error instanceof SdlError) return error.issues;
    throw error;
  }
  return [];
}

const ROWS = [
  ["auditors of another network", signed(FOREIGN), `"${FOREIGN}" is an address of another network`],
  ["prices in a coin of another network", inCoin("uakt"), 'prices and deposits are not in "uakt" on this chain'],
  ["rights that no provider gives", reading, "no provider lets programs read from its cluster"],
] as const;

describe("a file with", () => {
  it.each(ROWS)("%s is right in itself, with a warning", (_, text, problem) => {
    const { warnings } = loadSdl(text);
    expect(warnings).toMatchObject([{ kind: "value", problem }]);
    expect(warnings[0]?.line).toBeGreaterThan(1);
    expect(warnings[0]?.remedy).not.toBe("");
  });

  it.each(ROWS)("%s cannot be ordered here", (_, text, problem) => {
    expect(faults(text, { chain: DEFAULT_TERMS })).toMatchObject([{ kind: "value", problem }]);
    const source = { file: "f", sdl: loadSdl(text), reread: (chain: ChainTerms) => loadSdl(text, { chain }) };
    expect(() => requireOrderable(source, DEFAULT_TERMS)).toThrow(problem);
  });

  it("auditors and coins of another network has the same hash", () => {
    const { hash } = loadSdl(WEB);
    expect(loadSdl(signed(FOREIGN)).hash).toEqual(hash);
    expect(loadSdl(inCoin("uakt")).hash).toEqual(hash);
  });

  it("a coin that the chain takes can be ordered", () => {
    const chain = { ...DEFAULT_TERMS, denoms: ["utoken", "uakt"] };
    const { sdl, reread } = { sdl: loadSdl(inCoin("uakt")), reread: () => expect.unreachable() };
    expect(() => requireOrderable({ file: "f", sdl, reread }, chain)).not.toThrow();
    expect(loadSdl(inCoin("uakt"), { chain }).warnings).toEqual([]);
  });

  it("an address that is none of any network is refused", () => {
    for (const address of ["svc1x", "svcvaloper1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq6rqe02"])
      expect(faults(signed(address), {})).toMatchObject([{ problem: `"${address}" is not an address of this chain` }]);
  });
});
