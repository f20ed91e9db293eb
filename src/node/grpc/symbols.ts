import { Health } from "../../wire/gen/grpc/health/v1/health_pb.js";
import { ServerReflection } from "../../wire/gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "../../wire/gen/grpc/reflection/v1alpha/reflection_pb.js";
import { findEnum, findMessage, findMethod, findService, namespaceOf, toNamespace } from "../../wire/index.ts";

/** Services of the server itself, without rpcs of the chain. */
export const OWN_SERVICES = [Health, ServerReflection, ServerReflectionAlpha];

/** The file that describes a service, a method, a message or an enumeration, in either spelling; undefined if unknown. */
export function fileOfSymbol(symbol: string): string | undefined {
  const own = OWN_SERVICES.find(({ file }) => symbol.startsWith(`${file.proto.package}.`));
  if (own !== undefined) return own.file.proto.name;
  const name = descriptorOf(symbol)?.file.proto.name;
  return name === undefined ? undefined : toNamespace(`/${name}`, namespaceOf(symbol)).slice(1);
}

function descriptorOf(symbol: string) {
  const dot = symbol.lastIndexOf(".");
  const found = findService(symbol) ?? findMessage(symbol) ?? findEnum(symbol);
  return found ?? findMethod(`/${symbol.slice(0, dot)}/${symbol.slice(dot + 1)}`)?.parent;
}
