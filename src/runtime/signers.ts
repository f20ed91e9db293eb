import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { signerPath } from "../wire/index.ts";

/**
 * Makes the reader of a message's signers from its option `signer`: the path of a field, for example `id.owner`, where
 * a list on the way gives one signer an element (`inputs.address`).
 */
export function signersOf(schema: DescMessage): (message: MessageShape<DescMessage>) => string[] {
  const path = signerPath(schema);
  if (path === undefined) throw new Error(`${schema.typeName} does not say who signs it`);
  const properties = resolvePath(schema, path.split("."));
  return (message) => {
    let values: unknown[] = [message];
    for (const property of properties) {
      values = values.flatMap((value) => (isRecord(value) ? [value[property]].flat() : []));
    }
    return values.map((value) => (typeof value === "string" ? value : ""));
  };
}

function resolvePath(schema: DescMessage, names: readonly string[]): string[] {
  let current: DescMessage | undefined = schema;
  return names.map((name) => {
    const field = current?.fields.find((each) => each.name === name);
    if (field === undefined) throw new Error(`${schema.typeName}: there is no signer field ${names.join(".")}`);
    current = field.message;
    return field.localName;
  });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
