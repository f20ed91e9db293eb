import { BECH32_PREFIX, toUtf8 } from "../../util/index.ts";
import { isAddress } from "../../wire/index.ts";
import { show } from "../errors.ts";
import type { SdlLimits } from "../limits.ts";
import type { Attribute } from "../manifest.ts";
import type { AuditorDecl, PlacementDecl, PriceDecl } from "../model.ts";
import type { Entry, Node } from "../yaml/document.ts";
import type { Fields, Parsed, Reader, Want } from "../yaml/fields.ts";
import { isGroupName } from "../yaml/names.ts";
import { mapWant } from "../yaml/quantity.ts";
import { parseDenom, parsePrice } from "../yaml/units.ts";
import { isAttributeKey } from "./attributes.ts";

const PLACEMENT_WANT: Want = { what: "a placement", remedy: "write pricing: below the name" };
const PRICING_WANT: Want = {
  what: "a map of prices",
  remedy: "write pricing: {PROFILE: {denom: utoken, amount: 100}}",
};
const PRICE_WANT: Want = { what: "a price", remedy: "write {denom: utoken, amount: 100}" };
const TEXT_WANT: Want = { what: "text", remedy: "write one word or a text in quotes" };
export const AUDITOR_REMEDY = `write the address of an auditor of this chain, ${BECH32_PREFIX}1..., or remove it to take any provider`;
const AUDITOR_WANT: Want = { what: "a list of addresses", remedy: "write a list: [ADDRESS]" };

/** `profiles.placement.<name>`: where a group may run and what it may cost. */
export function readPlacement(reader: Reader, entry: Entry, limits: SdlLimits): PlacementDecl | undefined {
  if (!isGroupName(entry.key)) {
    const problem = `${show(entry.key)} is not a name for a placement`;
    reader.report.error(entry.place, "value", { problem, remedy: "write a name of 1 to 64 visible characters" });
  }
  const fields = reader.fields(entry.value, { keys: ["attributes", "signedBy", "pricing"] }, PLACEMENT_WANT);
  if (fields === undefined) return undefined;
  const signers = fields.get("signedBy");
  const signedBy =
    signers && reader.fields(signers, { keys: ["anyOf", "allOf"] }, mapWant("signedBy", "anyOf: [ADDRESS]"));
  return {
    name: entry.key,
    place: entry.place,
    attributes: readAttributes(reader, fields.get("attributes"), limits),
    ...readSigners(reader, signedBy, limits),
    pricing: readPricing(reader, fields.require("pricing", PRICING_WANT.remedy), limits),
  };
}

function readAttributes(reader: Reader, node: Node | undefined, limits: SdlLimits): readonly Attribute[] {
  const attributes: Attribute[] = [];
  const entries = reader.named(node, mapWant("attributes", "region: eu-west"));
  for (const entry of entries?.values() ?? []) {
    const value = reader.text(entry.value, TEXT_WANT);
    if (!isAttributeKey(entry.key, "required")) {
      const remedy = "write letters, digits and _ - . /, beginning with a letter, for example region";
      reader.report.error(entry.place, "value", {
        problem: `${show(entry.key)} is not a name for an attribute`,
        remedy,
      });
    }
    if (value === undefined) continue;
    checkLength(reader, entry.value, { value, max: limits.attributeValueMax });
    attributes.push({ key: entry.key, value });
  }
  return attributes.sort((a, b) => (a.key < b.key ? -1 : 1));
}

function checkLength(
  reader: Reader,
  node: Node,
  { value, max }: { readonly value: string; readonly max: number },
): void {
  if (toUtf8(value).length <= max) return;
  const remedy = `write at most ${max} bytes`;
  reader.report.error(node.place, "range", { problem: `${show(value)} is too long`, remedy });
}

/** The auditors who must have signed a provider's attributes. */
function readSigners(
  reader: Reader,
  fields: Fields | undefined,
  { groupAuditorsMax: most }: SdlLimits,
): Pick<PlacementDecl, "anyOf" | "allOf"> {
  const anyOf = readAuditors(reader, fields?.get("anyOf"));
  const allOf = readAuditors(reader, fields?.get("allOf"));
  const count = anyOf.length + allOf.length;
  if (fields !== undefined && count > most) {
    const problem = `${count} auditors in one placement`;
    reader.report.error(fields.place, "range", { problem, remedy: `name at most ${most}` });
  }
  return { anyOf, allOf };
}

function readAuditors(reader: Reader, node: Node | undefined): readonly AuditorDecl[] {
  const want = { what: "an address", remedy: "write the address of an auditor" };
  return reader.items(node, AUDITOR_WANT).flatMap((item) => {
    const address = reader.parsed(item, want, parseAuditor);
    return address === undefined ? [] : [{ address, place: item.place }];
  });
}

/** Auditors of other networks mean nothing on this chain, but the file may be meant for theirs. */
function parseAuditor(text: string): Parsed<string> {
  const prefix = /^([a-z]{1,83})1[02-9ac-hj-np-z]{38,58}$/.exec(text)?.[1] ?? BECH32_PREFIX;
  if (isAddress(text) || !prefix.startsWith(BECH32_PREFIX)) return { value: text };
  return { problem: `${show(text)} is not an address of this chain`, remedy: AUDITOR_REMEDY };
}

function readPricing(reader: Reader, node: Node | undefined, limits: SdlLimits): ReadonlyMap<string, PriceDecl> {
  const pricing = new Map<string, PriceDecl>();
  for (const entry of reader.named(node, PRICING_WANT)?.values() ?? []) {
    pricing.set(entry.key, readPrice(reader, entry, limits));
  }
  return pricing;
}

function readPrice(reader: Reader, entry: Entry, limits: SdlLimits): PriceDecl {
  const fields = reader.fields(entry.value, { keys: ["denom", "amount"] }, PRICE_WANT);
  const denom = fields?.require("denom", "write denom: utoken");
  const amount = fields?.require("amount", "write amount: 100, the highest price of one replica per block");
  const price = amount && reader.parsed(amount, PRICE_WANT, (text) => parsePrice(text, limits.unitPriceMax));
  return {
    place: entry.place,
    denom: (denom && reader.parsed(denom, PRICE_WANT, parseDenom)) ?? "",
    amount: price ?? 0n,
  };
}
