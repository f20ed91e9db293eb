import type { DescMessage, Registry } from "@bufbuild/protobuf";
import { findEnum, findMessage, findService } from "../../wire/index.ts";

const aliases = new Map<string, DescMessage>();

/** A message under the name that was asked for: the library compares names, and knows nothing of other spellings. */
function messageOf(name: string): DescMessage | undefined {
  const own = findMessage(name);
  if (own === undefined || own.typeName === name) return own;
  const alias = aliases.get(name) ?? { ...own, typeName: name };
  aliases.set(name, alias);
  return alias;
}

/** Types by their names in either spelling, for messages within messages of calls in JSON; built when they are asked for. */
export const lazyRegistry: Registry = {
  kind: "registry",
  get: (name) => messageOf(name) ?? findEnum(name) ?? findService(name),
  getMessage: messageOf,
  getEnum: findEnum,
  getService: findService,
  getExtension: () => undefined,
  getExtensionFor: () => undefined,
  [Symbol.iterator]: () => [][Symbol.iterator](),
};
