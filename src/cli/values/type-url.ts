import { type Namespace, toNamespace } from "../../wire/index.ts";
import { usageError } from "../errors.ts";

const TYPE_URL = /^\/[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$/;

/** The type URL of an argument or flag, in the spelling of the network. The type may be unknown here. */
export function typeUrlArgument(text: string, name: string, namespace: Namespace): string {
  if (TYPE_URL.test(text) && text.length <= 256) return toNamespace(text, namespace);
  throw usageError(
    `${name}: ${JSON.stringify(text.slice(0, 80))} is not a type URL of a message`,
    `write it with its slash, for example /${namespace}.bank.v1beta1.MsgSend`,
  );
}
