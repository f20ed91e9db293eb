import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { type Item, item, protoValue, type ValueCodec } from "../store/index.ts";
import { type ErrorFactory, equalBytes } from "../util/index.ts";
import type { Context } from "./context.ts";
import { checkAuthority } from "./requests/requests.ts";

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

/** The message with which governance replaces all parameters of a module. */
interface UpdateParams<P> {
  readonly authority: string;
  readonly params?: P | undefined;
}

/**
 * Handler and stateless check of `MsgUpdateParams`. `problems` is the check of genesis too, so a proposal with
 * parameters that genesis would refuse is refused when it is submitted.
 */
export function updateParams<P>(spec: {
  readonly set: (ctx: Context, params: P) => void;
  readonly problems: (params: P) => readonly string[];
  readonly refuse: ErrorFactory;
}): {
  readonly handle: (ctx: Context, request: UpdateParams<P>) => object;
  readonly check: (request: UpdateParams<P>) => void;
} {
  return {
    handle(ctx, { authority, params }) {
      checkAuthority(authority);
      if (params !== undefined) spec.set(ctx, params);
      return {};
    },
    check({ params }) {
      const [problem] = params === undefined ? ["params: missing"] : found(() => spec.problems(params));
      if (problem !== undefined) throw spec.refuse(problem);
    },
  };
}

/** Decimals arrive as strings; reading ends at the first one that is not a number. */
function found(problems: () => readonly string[]): readonly string[] {
  try {
    return problems();
  } catch {
    return ["params: a value of it is malformed"];
  }
}
