import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { NestedMessage } from "../../../runtime/index.ts";
import { sdkErrors } from "../../../util/index.ts";
import { type Any, type Namespace, packAny, toNamespace, unpackAny } from "../../../wire/index.ts";
import { depositKind, genericKind, sendKind } from "./basic.ts";
import type { Kind } from "./kind.ts";
import { stakeKind } from "./stake.ts";

const KINDS: readonly Kind[] = [genericKind, sendKind, stakeKind, depositKind];

/** An authorization, read. */
export interface Authorization {
  readonly kind: Kind;
  readonly value: MessageShape<DescMessage>;
  /** Type URL of the messages that it allows, in our spelling. */
  readonly typeUrl: string;
}

/** Reads an authorization and makes the checks that need no state. Throws `sdk/29` if it is not an authorization. */
export function readAuthorization(any: Any | undefined): Authorization {
  if (any === undefined) throw sdkErrors.invalidType("authorization is nil");
  const { schema, value: given } = unpackAny(any);
  const kind = KINDS.find((each) => each.schema === schema);
  if (kind === undefined) throw sdkErrors.invalidType(`${any.typeUrl} is not an authorization`);
  const value = kind.check(given);
  return { kind, value, typeUrl: kind.typeUrl(value) };
}

/** The stored form of an authorization. */
export function packAuthorization({ kind, value }: Authorization): Any {
  return packAny(kind.schema, value);
}

/** The authorization after a message has used it; undefined if nothing is left. */
export function useAuthorization({ kind, value }: Authorization, message: NestedMessage): Any | undefined {
  const left = kind.use(value, message);
  return left === undefined ? undefined : packAny(kind.schema, left);
}

/** A stored authorization in the spelling of the request: its own type, and the type of messages that it names. */
export function spelledAuthorization(any: Any | undefined, namespace: Namespace): Any {
  const { kind, value, typeUrl } = readAuthorization(any);
  const spelled = kind === genericKind ? { ...value, msg: toNamespace(typeUrl, namespace) } : value;
  return packAny(kind.schema, spelled, namespace);
}
