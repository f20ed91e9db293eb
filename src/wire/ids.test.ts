import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeAddress } from "./address.ts";
import {
  formatAccountId,
  formatBidId,
  formatCertificateId,
  formatDeploymentId,
  formatGroupId,
  formatLeaseId,
  formatOrderId,
  formatPaymentId,
  parseAccountId,
  parseBidId,
  parseCertificateId,
  parseDeploymentId,
  parseGroupId,
  parseLeaseId,
  parseOrderId,
} from "./ids.ts";

const OWNER = encodeAddress(new Uint8Array(20).fill(1));
const PROVIDER = encodeAddress(new Uint8Array(20).fill(2));
const ID = { owner: OWNER, dseq: 18446744073709551615n, gseq: 1, oseq: 4294967295, provider: PROVIDER };

describe("identifiers", () => {
  it("have the published texts", () => {
    expect(formatDeploymentId(ID)).toBe(`${OWNER}/18446744073709551615`);
    expect(formatGroupId(ID)).toBe(`${OWNER}/18446744073709551615/1`);
    expect(formatOrderId(ID)).toBe(`${OWNER}/18446744073709551615/1/4294967295`);
    expect(formatBidId(ID)).toBe(`${OWNER}/18446744073709551615/1/4294967295/${PROVIDER}`);
    expect(formatPaymentId(ID)).toBe(`1/4294967295/${PROVIDER}`);
    expect(formatCertificateId({ owner: OWNER, serial: "12" })).toBe(`${OWNER}/12`);
    expect(formatAccountId({ scope: "bid", xid: "a/1" })).toBe("bid/a/1");
  });

  it("read back with and without their kind in front", () => {
    const sequence = fc.integer({ min: 1, max: 0xffffffff });
    const key = fc.record({ dseq: fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }), gseq: sequence, oseq: sequence });
    fc.assert(
      fc.property(key, (numbers) => {
        const id = { owner: OWNER, provider: PROVIDER, ...numbers };
        for (const [kind, format, parse] of [
          ["deployment", formatDeploymentId, parseDeploymentId],
          ["group", formatGroupId, parseGroupId],
          ["order", formatOrderId, parseOrderId],
          ["bid", formatBidId, parseBidId],
          ["lease", formatLeaseId, parseLeaseId],
        ] as const) {
          const { $typeName: _, ...parsed } = parse(`${kind}/${format(id)}`);
          expect(id).toMatchObject(parsed);
          expect(parse(format(id))).toEqual(parse(`${kind}/${format(id)}`));
        }
      }),
    );
    expect(parseAccountId(`bid/${formatBidId(ID)}`)).toMatchObject({ scope: "bid", xid: formatBidId(ID) });
    expect(parseCertificateId(`${OWNER}/12`)).toMatchObject({ owner: OWNER, serial: "12" });
  });

  it.each([
    ["order", `${OWNER}/5/1`, /4 parts/],
    ["order", `bid/${OWNER}/5/1/1`, /4 parts/],
    ["order", `${OWNER}/0/1/1`, /"0" is not a number/],
    ["order", `${OWNER}/05/1/1`, /"05" is not a number/],
    ["order", `${OWNER}/18446744073709551616/1/1`, /is not a number/],
    ["order", `${OWNER}/5/4294967296/1`, /is not a number/],
    ["order", `${OWNER}/5/1/-1`, /is not a number/],
    ["order", `nobody/5/1/1`, /is not an account address/],
    ["bid", `${OWNER}/5/1/1/nobody`, /is not a provider address/],
    ["bid", "", /5 parts/],
  ])("refuse as %s %s", (kind, text, why) => {
    expect(() => (kind === "bid" ? parseBidId(text) : parseOrderId(text))).toThrow(why);
  });

  it("refuse incomplete accounts and serials that are not numbers", () => {
    for (const text of ["", "bid", "bid/", "/x"]) expect(() => parseAccountId(text)).toThrow(/write <scope>/);
    for (const serial of ["", "01", "-1", "x"])
      expect(() => parseCertificateId(`${OWNER}/${serial}`)).toThrow(/serial/);
  });
});
