import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { ErrorFactory } from "../../util/index.ts";
import { type DecodeRules, readMessage, wireErrors } from "./decode.ts";
import { WireReader } from "./reader.ts";

export { type DecodeRules, emptyMessage, MAX_MESSAGE_DEPTH, wireErrors } from "./decode.ts";
export { encodeMessage } from "./encode.ts";
export { LENGTH_DELIMITED, WireReader } from "./reader.ts";
export { BackwardWriter } from "./writer.ts";

/**
 * Reads a message as liberally as the format allows: skips unknown fields, and takes the last value of a repeated
 * singular field. For answers of nodes and stored records, never for signed bytes.
 */
export function decodeMessage<D extends DescMessage>(
  schema: D,
  bytes: Uint8Array,
  error: ErrorFactory = wireErrors.malformed,
  rules: DecodeRules = {},
): MessageShape<D> {
  return readMessage(new WireReader(bytes, { strict: false, error, label: schema.name }), schema, rules);
}

/**
 * Reads a message whose every byte must be as the canonical writer would have it: known fields once each, right wire
 * types, shortest varints, numbers in range, valid UTF-8. (Explicit defaults and the order of fields are left free, as
 * in the ecosystem.)
 */
export function decodeStrictly<D extends DescMessage>(
  schema: D,
  bytes: Uint8Array,
  error: ErrorFactory,
  rules: DecodeRules = {},
): MessageShape<D> {
  return readMessage(
    new WireReader(bytes, { strict: true, error, label: schema.name, views: rules.views }),
    schema,
    rules,
  );
}
