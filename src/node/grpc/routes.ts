import type { DescMethod } from "@bufbuild/protobuf";
import { type ConnectRouter, createConnectRouter } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import type { ChainSource } from "../../engine/index.ts";
import { Health } from "../../wire/gen/grpc/health/v1/health_pb.js";
import { ServerReflection } from "../../wire/gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "../../wire/gen/grpc/reflection/v1alpha/reflection_pb.js";
import { answerer, type CallParts, inNamespace } from "./calls.ts";
import { HealthChecks } from "./health.ts";
import { MAX_ANSWER_BYTES } from "./limits.ts";
import { Reflection } from "./reflection.ts";
import { lazyRegistry } from "./registry.ts";
import { OWN_SERVICES } from "./symbols.ts";

export interface RouteParts extends CallParts {
  readonly chain: ChainSource;
  readonly maxMessageBytes: number;
  readonly shutdown: AbortSignal;
}

/** What answers each path: every rpc of the node in both spellings, reflection and health, over all three protocols. */
export function grpcRoutes(parts: RouteParts): ReadonlyMap<string, UniversalHandler> {
  const router = createConnectRouter({
    // Packed messages may hold a thousand times what they weigh.
    acceptCompression: [],
    readMaxBytes: parts.maxMessageBytes,
    writeMaxBytes: MAX_ANSWER_BYTES,
    shutdownSignal: parts.shutdown,
    jsonOptions: { registry: lazyRegistry },
  });
  const names = new Set(OWN_SERVICES.map(({ typeName }) => typeName));
  for (const method of parts.dispatcher.methods) for (const name of addMethod(router, parts, method)) names.add(name);
  addHealth(router, new HealthChecks(parts.chain, names));
  addReflection(router, new Reflection([...names]));
  return new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
}

/** Adds an rpc under each name of its service, and tells these. */
function addMethod(router: ConnectRouter, parts: CallParts, method: DescMethod): string[] {
  const own = inNamespace(method.parent, "sdk");
  const alias = inNamespace(method.parent, "cosmos");
  for (const [parent, namespace] of [
    [own, "sdk"],
    [alias, "cosmos"],
  ] as const) {
    if (namespace === "cosmos" && alias === own) continue;
    router.rpc({ ...method, parent, methodKind: "unary" }, answerer(parts, method, namespace));
  }
  return [own.typeName, alias.typeName];
}

function addHealth(router: ConnectRouter, health: HealthChecks): void {
  router.service(Health, {
    check: ({ service }) => health.check(service),
    watch: ({ service }, { signal }) => health.watch(service, signal),
  });
}

function addReflection(router: ConnectRouter, reflection: Reflection): void {
  const { serverReflectionInfo: method } = ServerReflection.method;
  // The older version has the same messages under another name.
  for (const parent of [ServerReflection, ServerReflectionAlpha]) {
    router.rpc({ ...method, parent }, (requests) => reflection.answers(requests));
  }
}
