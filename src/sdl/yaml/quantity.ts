import { show } from "../errors.ts";
import { formatBytes } from "../limits.ts";
import type { Node } from "./document.ts";
import type { Fields, Parsed, Reader, Want } from "./fields.ts";
import { parseBytes } from "./units.ts";

/** How a bounded amount is read and shown. */
export interface Quantity extends Want {
  readonly parse: (text: string) => Parsed<bigint>;
  readonly format: (value: bigint) => string;
  readonly min: bigint;
  readonly max: bigint;
}

/** An amount within its bounds; 0 where it is missing or refused. */
export function readQuantity(reader: Reader, node: Node | undefined, quantity: Quantity): bigint {
  const value = node && reader.parsed(node, quantity, quantity.parse);
  if (node === undefined || value === undefined) return 0n;
  if (value >= quantity.min && value <= quantity.max) return value;
  reader.report.error(node.place, "range", {
    problem: `${node.kind === "scalar" ? show(node.text) : value} is out of range`,
    remedy: `write ${quantity.format(quantity.min)} to ${quantity.format(quantity.max)}`,
  });
  return 0n;
}

/** The `size` of memory or of a volume, in bytes. */
export function readSize(
  reader: Reader,
  fields: Fields | undefined,
  bounds: { readonly min: bigint; readonly max: bigint },
): bigint {
  const size = fields?.require("size", "write size: 512Mi");
  const want = { what: "a size", remedy: "write a number with a unit, for example 512Mi" };
  return readQuantity(reader, size, { ...want, ...bounds, parse: parseBytes, format: formatBytes });
}

/** The want of a map under a key, with an example of its content. */
export function mapWant(key: string, content: string): Want {
  return { what: `a map for ${key}`, remedy: `write ${key}: {${content}}` };
}
