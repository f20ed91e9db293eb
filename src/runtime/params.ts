import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { type Item, item, protoValue, type ValueCodec } from "../store/index.ts";
import { equalBytes } from "../util/index.ts";

/**
 * Declares the parameters of a module: one message in the module's store. Every transaction reads them and they hardly
 * ever change, so the decoded value is kept while the stored bytes stay the same; it is read-only.
 */
export function paramsItem<D extends DescMessage>(spec: {
  readonly prefix: number;
  readonly schema: D;
}): Item<MessageShape<D>> {
  return item({ name: "parameters", prefix: spec.prefix, value: remembered(protoValue(spec.schema)) });
}

/** A codec that remembers the last value decoded. */
export function remembered<V>(codec: ValueCodec<V>): ValueCodec<V> {
  let last: { readonly bytes: Uint8Array; readonly value: V } | undefined;
  return {
    encode: codec.encode,
    decode(bytes) {
      if (last === undefined || !equalBytes(last.bytes, bytes)) {
        const copy = Uint8Array.from(bytes);
        last = { bytes: copy, value: codec.decode(copy) };
      }
      return last.value;
    },
  };
}
