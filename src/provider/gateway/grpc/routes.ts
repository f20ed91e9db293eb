import { Code, ConnectError, type ConnectRouter, createContextKey, type HandlerContext } from "@connectrpc/connect";
import {
  Health,
  HealthCheckResponse_ServingStatus as Health_Status,
} from "../../../wire/gen/grpc/health/v1/health_pb.js";
import { ServerReflection } from "../../../wire/gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "../../../wire/gen/grpc/reflection/v1alpha/reflection_pb.js";
import { ProviderRPC, type Status } from "../../../wire/gen/svc/provider/v1/status_pb.js";
import { addReflection, Reflection } from "../../../wire/reflection/index.ts";
import { descriptorFiles } from "./descriptor-bytes.ts";
import type { StatusFeed } from "./feed.ts";

const SERVICES = [ProviderRPC, Health, ServerReflection, ServerReflectionAlpha];
const NAMES: ReadonlySet<string> = new Set(["", ...SERVICES.map(({ typeName }) => typeName)]);

/** A handler's view of the connection of its call. */
export interface Call {
  /** Counts a stream of the caller; its end is aborted with the refusal when it may no longer run. Throws above a limit. */
  open(): { readonly signal: AbortSignal; readonly close: () => void };
  /** Waits until a reader has room for more; one that takes nothing is cut off. */
  waiting(): { readonly done: () => void };
}

export const callKey = createContextKey<Call | undefined>(undefined, { description: "the call" });

export function addRoutes(router: ConnectRouter, feed: StatusFeed): void {
  router.service(ProviderRPC, {
    getStatus: () => feed.latest(),
    streamStatus: (_, context) => streamStatus(feed, context),
  });
  router.service(Health, {
    check: ({ service }) => ({ status: checked(service) }),
    watch: ({ service }, context) => watchHealth(service, context),
  });
  const fileOf = (symbol: string) => SERVICES.find(({ file }) => isOf(symbol, file.proto.package))?.file.proto.name;
  addReflection(
    router,
    new Reflection({ services: SERVICES.map(({ typeName }) => typeName), files: descriptorFiles, fileOf }),
  );
}

function isOf(symbol: string, packageName: string): boolean {
  return symbol.startsWith(`${packageName}.`);
}

function callOf({ values }: HandlerContext): Call {
  const call = values.get(callKey);
  if (call === undefined) throw new ConnectError("the call has no caller", Code.Internal);
  return call;
}

async function* streamStatus(feed: StatusFeed, context: HandlerContext): AsyncGenerator<Status> {
  const call = callOf(context);
  const { signal, close } = call.open();
  try {
    for await (const status of feed.changes(AbortSignal.any([signal, context.signal]))) {
      const { done } = call.waiting();
      try {
        yield status;
      } finally {
        done();
      }
    }
  } finally {
    close();
  }
}

/** Health of the service that answers. */
function checked(service: string): Health_Status {
  if (NAMES.has(service)) return Health_Status.SERVING;
  throw new ConnectError(`there is no service ${JSON.stringify(service.slice(0, 200))}`, Code.NotFound);
}

/** Nothing ever changes: the answer comes at once, and the stream stays open. */
async function* watchHealth(service: string, context: HandlerContext) {
  const { signal, close } = callOf(context).open();
  try {
    yield { status: NAMES.has(service) ? Health_Status.SERVING : Health_Status.SERVICE_UNKNOWN };
    const ended = AbortSignal.any([signal, context.signal]);
    await new Promise<void>((resolve) => {
      if (ended.aborted) resolve();
      ended.addEventListener("abort", () => resolve(), { once: true });
    });
    throw ended.reason;
  } finally {
    close();
  }
}
