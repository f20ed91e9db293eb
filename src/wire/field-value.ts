import type { DescField, DescMessage, MessageShape } from "@bufbuild/protobuf";

/** The value of a message's field; undefined if another member of its oneof is set. */
export function fieldValue(field: DescField, message: MessageShape<DescMessage>): unknown {
  const values: Readonly<Record<string, unknown>> = message;
  if (field.oneof === undefined) return values[field.localName];
  const chosen = values[field.oneof.localName];
  if (typeof chosen !== "object" || chosen === null || !("case" in chosen) || !("value" in chosen)) return undefined;
  return chosen.case === field.localName ? chosen.value : undefined;
}
