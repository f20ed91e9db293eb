import type { DescMessage, DescMethod } from "@bufbuild/protobuf";

/**
 * The two spellings of a name. Ours is `sdk.*`; wallets, explorers and libraries of the ecosystem have `cosmos.*` built
 * in. Both are accepted in every input, received bytes are never rewritten, and an answer uses the spelling of its
 * request.
 */
export type Namespace = "sdk" | "cosmos";

const OWN = "sdk";
const ALIAS = "cosmos";

/**
 * Rewrites the first word of a proto name (`sdk.bank.v1beta1.MsgSend`), type URL, method path (`/sdk.x.Query/Y`) or
 * REST path (`/sdk/bank/...`). Anything else, `svc.*` included, comes back unchanged.
 */
export function toNamespace(name: string, namespace: Namespace): string {
  return rewrite(name, namespace === OWN ? ALIAS : OWN, namespace);
}

/** The spelling a name was written in; a name with neither word counts as ours. */
export function namespaceOf(name: string): Namespace {
  return rewrite(name, ALIAS, OWN) === name ? OWN : ALIAS;
}

function rewrite(name: string, from: string, to: string): string {
  const start = name.startsWith("/") ? 1 : 0;
  const end = start + from.length;
  const separator = name[end];
  if ((separator !== "." && separator !== "/") || !name.startsWith(from, start)) return name;
  return name.slice(0, start) + to + name.slice(end);
}

/** `/sdk.bank.v1beta1.MsgSend`, or the alias spelling. */
export function typeUrlOf(schema: DescMessage, namespace: Namespace = "sdk"): string {
  return `/${toNamespace(schema.typeName, namespace)}`;
}

/** `/sdk.bank.v1beta1.Query/Balance`, or the alias spelling. */
export function methodPath(method: DescMethod, namespace: Namespace = "sdk"): string {
  return `/${toNamespace(method.parent.typeName, namespace)}/${method.name}`;
}
