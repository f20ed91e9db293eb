import { create, type DescMessage, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import { sdkErrors } from "../util/index.ts";
import { decodeMessage, encodeMessage } from "./codec/index.ts";
import { type Namespace, typeUrlOf } from "./namespace.ts";

/** A message as bytes with the URL of its type. */
export type { Any };

/** A message together with its type. */
export interface Unpacked {
  readonly typeUrl: string;
  readonly schema: DescMessage;
  readonly value: MessageShape<DescMessage>;
  /** The number of signed messages that it carries, at any depth; counted where it is read strictly. */
  readonly carried?: number;
}

/** An `Any` as the ecosystem writes it: the type URL is a slash and the full name, with nothing before it. */
export function makeAny(typeUrl: string, value: Uint8Array): Any {
  return create(AnySchema, { typeUrl, value });
}

/** Packs a message under its own type URL, or under the alias spelling. */
export function packAny<D extends DescMessage>(
  schema: D,
  message: MessageInitShape<D>,
  namespace: Namespace = "sdk",
): Any {
  return makeAny(typeUrlOf(schema, namespace), encodeMessage(schema, create(schema, message)));
}

/** The message of an `Any` when it is of this type (in either spelling), else undefined. */
export function unpackAs<D extends DescMessage>(schema: D, any: Any | undefined): MessageShape<D> | undefined {
  if (any === undefined || ![typeUrlOf(schema), typeUrlOf(schema, "cosmos")].includes(any.typeUrl)) return undefined;
  return decodeMessage(schema, any.value, sdkErrors.unpackAny);
}
