import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { NestedMessage } from "../../../runtime/index.ts";

/** A kind of authorization: its permissions, and its remainder after a use. */
export interface Kind<D extends DescMessage = DescMessage> {
  readonly schema: D;
  /** Type URL of the messages that it allows. */
  typeUrl(authorization: MessageShape<D>): string;
  /** The stateless checks; returns the authorization in its canonical, stored form. */
  check(authorization: MessageShape<D>): MessageShape<D>;
  /** Throws unless the message is allowed; returns the remainder, undefined for nothing. */
  use(authorization: MessageShape<D>, message: NestedMessage): MessageShape<D> | undefined;
}

/** Ties a kind of authorization to its message type; lists of kinds do not know their types. */
export function defineKind<D extends DescMessage>(kind: Kind<D>): Kind;
export function defineKind(kind: Kind): Kind {
  return kind;
}
