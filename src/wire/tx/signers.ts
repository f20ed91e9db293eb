import type { DescField, DescMessage, MessageShape } from "@bufbuild/protobuf";
import { assert } from "../../util/index.ts";
import { accountOfValidator } from "../address.ts";
import type { Unpacked } from "../any.ts";
import type { Fee } from "../gen/sdk/tx/v1beta1/tx_pb.js";
import { Scalar, scalarOf, signerPath } from "../options.ts";

/**
 * Addresses that must sign a message, in order, each once, as written in it. From the `signer` option: `id.owner` is
 * a path, `inputs.address` runs over a list, `depositor|id.owner` takes the first path that is not empty. For a
 * validator its account signs.
 */
export function messageSigners<D extends DescMessage>(schema: D, message: MessageShape<D>): string[] {
  const option = signerPath(schema);
  assert(option !== undefined, `${schema.typeName} has no signer`);
  for (const path of option.split("|")) {
    const found = valuesAt(schema, message, path.split(".")).filter((text) => text !== "");
    if (found.length > 0) return [...new Set(found)];
  }
  return [];
}

/**
 * Addresses that have to sign a transaction: the signers of its messages in order, then the fee payer if it is another.
 */
export function txSigners(messages: readonly Pick<Unpacked, "schema" | "value">[], fee: Fee | undefined): string[] {
  const signers = new Set(messages.flatMap(({ schema, value }) => messageSigners(schema, value)));
  if (fee !== undefined && fee.payer !== "") signers.add(fee.payer);
  return [...signers];
}

/** The fee payer: the one that the fee names, else the first signer; undefined if there is neither. */
export function feePayer(signers: readonly string[], fee: Fee | undefined): string | undefined {
  return fee !== undefined && fee.payer !== "" ? fee.payer : signers[0];
}

function valuesAt(schema: DescMessage, message: unknown, path: readonly string[]): string[] {
  const [name, ...rest] = path;
  const field = schema.fields.find((candidate) => candidate.name === name);
  assert(field !== undefined, `${schema.typeName} has no field ${name}`);
  const value = (message as Readonly<Record<string, unknown>>)[field.localName];
  const values = field.fieldKind === "list" ? (value as readonly unknown[]) : [value];
  const inner = field.message;
  if (rest.length === 0 || inner === undefined) return values.map((text) => signerText(field, text));
  return values.flatMap((item) => (item === undefined ? [] : valuesAt(inner, item, rest)));
}

/** A signer as written in a field: for a validator its account. */
export function signerText(field: DescField, text: unknown): string {
  if (typeof text !== "string" || text === "") return "";
  return scalarOf(field) === Scalar.VALIDATOR_ADDRESS ? accountOfValidator(text) : text;
}
