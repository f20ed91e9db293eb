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
  const signers = new Set<string>();
  addSigners(signers, schema, message);
  return [...signers];
}

/**
 * Addresses that have to sign a transaction: the signers of its messages in order, then the fee payer if it is another.
 */
export function txSigners(messages: readonly Pick<Unpacked, "schema" | "value">[], fee: Fee | undefined): string[] {
  const signers = new Set<string>();
  for (const { schema, value } of messages) addSigners(signers, schema, value);
  if (fee !== undefined && fee.payer !== "") signers.add(fee.payer);
  return [...signers];
}

/** The fee payer: the one that the fee names, else the first signer; undefined if there is neither. */
export function feePayer(signers: readonly string[], fee: Fee | undefined): string | undefined {
  return fee !== undefined && fee.payer !== "" ? fee.payer : signers[0];
}

function addSigners(signers: Set<string>, schema: DescMessage, message: unknown): void {
  pathsOf(schema).find((path) => addAt(signers, message, { path, at: 0 }));
}

interface PathPlace {
  readonly path: readonly DescField[];
  readonly at: number;
}

/** Adds the signers at the end of a path; answers whether there are any. */
function addAt(signers: Set<string>, message: unknown, { path, at }: PathPlace): boolean {
  const field = path[at];
  if (field === undefined || message === undefined) return false;
  const value = (message as Readonly<Record<string, unknown>>)[field.localName];
  const isLast = at + 1 === path.length;
  const add = (each: unknown): boolean => {
    if (!isLast) return addAt(signers, each, { path, at: at + 1 });
    const text = signerText(field, each);
    if (text !== "") signers.add(text);
    return text !== "";
  };
  if (field.fieldKind !== "list") return add(value);
  return (value as readonly unknown[]).filter(add).length > 0;
}

const paths = new WeakMap<DescMessage, readonly (readonly DescField[])[]>();

/** The fields on the way to the signer of a type, of each alternative. */
function pathsOf(schema: DescMessage): readonly (readonly DescField[])[] {
  const known = paths.get(schema);
  if (known !== undefined) return known;
  const option = signerPath(schema);
  assert(option !== undefined, `${schema.typeName} has no signer`);
  const made = option.split("|").map((path) => fieldsAt(schema, path.split(".")));
  paths.set(schema, made);
  return made;
}

function fieldsAt(schema: DescMessage, [name, ...rest]: readonly string[]): DescField[] {
  const field = schema.fields.find((candidate) => candidate.name === name);
  assert(field !== undefined, `${schema.typeName} has no field ${name}`);
  return field.message === undefined || rest.length === 0 ? [field] : [field, ...fieldsAt(field.message, rest)];
}

/** A signer as written in a field: for a validator its account. */
export function signerText(field: DescField, text: unknown): string {
  if (typeof text !== "string" || text === "") return "";
  return scalarOf(field) === Scalar.VALIDATOR_ADDRESS ? accountOfValidator(text) : text;
}
