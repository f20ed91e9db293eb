import { createRegistry, type DescMessage, type DescMethod, type DescService, type Registry } from "@bufbuild/protobuf";
import { sdkErrors } from "../util/index.ts";
import { type Namespace, toNamespace } from "./namespace.ts";
import { PROTO_FILES } from "./proto-files.ts";

/** All messages, enums, services and extensions of the product. */
export const registry: Registry = createRegistry(...PROTO_FILES);

const messages = new Map<string, DescMessage>();
const services = new Map<string, DescService>();
const methods = new Map<string, DescMethod>();

for (const type of registry) {
  if (type.kind === "message") enter(messages, type.typeName, type);
  if (type.kind !== "service") continue;
  enter(services, type.typeName, type);
  for (const method of type.methods) enter(methods, `${type.typeName}/${method.name}`, method);
}

/** Every name is found under both spellings, so that a look-up is one step. */
function enter<T>(table: Map<string, T>, name: string, value: T): void {
  table.set(name, value);
  table.set(toNamespace(name, "cosmos"), value);
}

/** The message of a type URL in either spelling, or undefined. */
export function findTypeUrl(typeUrl: string): DescMessage | undefined {
  return typeUrl.startsWith("/") ? messages.get(typeUrl.slice(1)) : undefined;
}

/** The message of a type URL in either spelling; `sdkErrors.unpackAny` when there is none. */
export function resolveTypeUrl(typeUrl: string): DescMessage {
  const schema = findTypeUrl(typeUrl);
  if (schema === undefined) throw sdkErrors.unpackAny(unresolved(typeUrl));
  return schema;
}

/** What the ecosystem says of a type URL that names nothing. */
export function unresolved(typeUrl: string): string {
  return `unable to resolve type URL ${JSON.stringify(typeUrl.slice(0, 128)).slice(1, -1)}`;
}

/** `/sdk.bank.v1beta1.MsgSend`, or the alias spelling. */
export function typeUrlOf(schema: DescMessage, namespace: Namespace = "sdk"): string {
  return `/${toNamespace(schema.typeName, namespace)}`;
}

/** The message of a full name without slash, in either spelling. */
export function findMessage(typeName: string): DescMessage | undefined {
  return messages.get(typeName);
}

export function findService(typeName: string): DescService | undefined {
  return services.get(typeName);
}

/** The rpc of a path such as `/sdk.bank.v1beta1.Query/Balance`, in either spelling. */
export function findMethod(path: string): DescMethod | undefined {
  return path.startsWith("/") ? methods.get(path.slice(1)) : undefined;
}

/** `/sdk.bank.v1beta1.Query/Balance`, or the alias spelling. */
export function methodPath(method: DescMethod, namespace: Namespace = "sdk"): string {
  return `/${toNamespace(method.parent.typeName, namespace)}/${method.name}`;
}

/** Every service once, under its own name. */
export function allServices(): DescService[] {
  return [...registry].filter((type) => type.kind === "service");
}

/** The request messages of every `Msg` service: what a transaction may carry. */
export function allMsgs(): DescMessage[] {
  return allServices()
    .filter((service) => service.name === "Msg")
    .flatMap((service) => service.methods.map((method) => method.input));
}
