import type { DescEnum, DescExtension, DescMessage, DescMethod, DescService } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { sdkErrors } from "../util/index.ts";
import type { Any, Unpacked } from "./any.ts";
import { decodeMessage } from "./codec/index.ts";
import { toNamespace } from "./namespace.ts";
import { PROTO_FILES, type ProtoFile } from "./proto-files.ts";

const messages = new Map<string, DescMessage>();
const services = new Map<string, DescService>();
const methods = new Map<string, DescMethod>();
const enums = new Map<string, DescEnum>();

/** The files not asked for yet: building all of them would take half the start-up time of a command. */
const waiting = new Map<string, ProtoFile[]>();
for (const each of PROTO_FILES) waiting.set(each.package, [...(waiting.get(each.package) ?? []), each]);

/** Builds the files of a package. */
function load(name: string): void {
  const files = waiting.get(name) ?? [];
  waiting.delete(name);
  for (const { file } of files) for (const type of nestedTypes(file())) enterType(type);
}

function enterType(type: DescMessage | DescEnum | DescExtension | DescService): void {
  if (type.kind === "message") enter(messages, type.typeName, type);
  if (type.kind === "enum") enter(enums, type.typeName, type);
  if (type.kind !== "service") return;
  enter(services, type.typeName, type);
  for (const method of type.methods) enter(methods, `${type.typeName}/${method.name}`, method);
}

/** Every name is found under both spellings, so that a look-up is one step. */
function enter<T>(table: Map<string, T>, name: string, value: T): void {
  table.set(name, value);
  table.set(toNamespace(name, "cosmos"), value);
}

function find<T>(table: ReadonlyMap<string, T>, name: string): T | undefined {
  const known = table.get(name);
  if (known !== undefined || waiting.size === 0) return known;
  load(packageOf(toNamespace(name, "sdk")));
  return table.get(name);
}

/** The words before the first that begins with a capital letter: `sdk.tx.v1beta1` of `sdk.tx.v1beta1.ModeInfo.Single`. */
function packageOf(name: string): string {
  const words = name.split(".");
  const type = words.findIndex((word) => /^[A-Z]/.test(word));
  return words.slice(0, type).join(".");
}

function loadAll(): void {
  for (const name of [...waiting.keys()]) load(name);
}

/** The message of a type URL in either spelling, or undefined. */
export function findTypeUrl(typeUrl: string): DescMessage | undefined {
  return typeUrl.startsWith("/") ? find(messages, typeUrl.slice(1)) : undefined;
}

/** The message of a type URL in either spelling; `sdkErrors.unpackAny` when there is none. */
export function resolveTypeUrl(typeUrl: string): DescMessage {
  const schema = findTypeUrl(typeUrl);
  if (schema === undefined) throw sdkErrors.unpackAny(unresolved(typeUrl));
  return schema;
}

/** The message of an `Any`, whatever its type. Throws `sdkErrors.unpackAny`. */
export function unpackAny(any: Any): Unpacked {
  const schema = resolveTypeUrl(any.typeUrl);
  return { typeUrl: any.typeUrl, schema, value: decodeMessage(schema, any.value, sdkErrors.unpackAny) };
}

/** The ecosystem's error text for an unknown type URL. */
export function unresolved(typeUrl: string): string {
  return `unable to resolve type URL ${JSON.stringify(typeUrl.slice(0, 128)).slice(1, -1)}`;
}

/** The message of a full name without slash, in either spelling. */
export function findMessage(typeName: string): DescMessage | undefined {
  return find(messages, typeName);
}

export function findService(typeName: string): DescService | undefined {
  return find(services, typeName);
}

export function findEnum(typeName: string): DescEnum | undefined {
  return find(enums, typeName);
}

/** The rpc of a path such as `/sdk.bank.v1beta1.Query/Balance`, in either spelling. */
export function findMethod(path: string): DescMethod | undefined {
  return path.startsWith("/") ? find(methods, path.slice(1)) : undefined;
}

/** Every message, each once, by name. */
export function allMessages(): DescMessage[] {
  loadAll();
  return sorted(messages);
}

/** Every service once, under its own name and in the order of names. */
export function allServices(): DescService[] {
  loadAll();
  return sorted(services);
}

/** The order in which files were loaded is another in each program. */
function sorted<T extends { readonly typeName: string }>(known: ReadonlyMap<string, T>): T[] {
  return [...new Set(known.values())].sort((a, b) => (a.typeName < b.typeName ? -1 : 1));
}

/** The services of a module: the services of packages such as `sdk.bank.v1beta1`. No other package is built for it. */
export function moduleServices(module: string): DescService[] {
  const isOwn = (name: string): boolean => name.split(".")[1] === module;
  for (const name of [...waiting.keys()].filter(isOwn)) load(name);
  return [...new Set(services.values())].filter(({ file }) => isOwn(file.proto.package));
}

/** The request messages of every `Msg` service: what a transaction may carry. */
export function allMsgs(): DescMessage[] {
  return allServices()
    .filter((service) => service.name === "Msg")
    .flatMap((service) => service.methods.map((method) => method.input));
}
