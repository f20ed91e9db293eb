import type { DescMessage, DescMethod, Registry } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, createConnectRouter } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../wire/gen/grpc/health/v1/health_pb.js";
import { ServerReflection } from "../../wire/gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "../../wire/gen/grpc/reflection/v1alpha/reflection_pb.js";
import {
  findEnum,
  findMessage,
  findMethod,
  findService,
  MAX_REQUEST_BYTES,
  maxRequestBytes,
  methodPath,
  type Namespace,
  namespaceOf,
  toNamespace,
} from "../../wire/index.ts";
import { addReflection, Reflection } from "../../wire/reflection/index.ts";
import { answerer, type BytesAnswerer, bytesAnswerer, type CallParts, inNamespace } from "./calls/calls.ts";
import { blamingClients } from "./calls/malformed.ts";
import { descriptorFiles } from "./descriptor-bytes.ts";
import type { HealthSource } from "./health-source.ts";
import { MAX_ANSWER_BYTES, MAX_WATCHERS } from "./limits.ts";

/** Services of the server itself, without rpcs of the chain. */
const OWN_SERVICES = [Health, ServerReflection, ServerReflectionAlpha];

export interface RouteParts extends CallParts {
  readonly chain: HealthSource;
  readonly maxMessageBytes: number;
  readonly shutdown: AbortSignal;
}

/** The handlers of the paths. */
export interface GrpcRoutes {
  /** Every rpc of the node in both spellings, reflection and health, over all three protocols. */
  readonly handlers: ReadonlyMap<string, UniversalHandler>;
  /** Only the rpcs of the node, from bytes to bytes. */
  readonly plain: ReadonlyMap<string, BytesAnswerer>;
}

export function grpcRoutes(parts: RouteParts): GrpcRoutes {
  const router = createConnectRouter({
    // Compressed messages may expand to a thousand times their size.
    acceptCompression: [],
    readMaxBytes: MAX_REQUEST_BYTES,
    writeMaxBytes: MAX_ANSWER_BYTES,
    shutdownSignal: parts.shutdown,
    jsonOptions: { registry: lazyRegistry },
  });
  const names = new Set(OWN_SERVICES.map(({ typeName }) => typeName));
  const plain = new Map<string, BytesAnswerer>();
  for (const method of parts.dispatcher.methods) {
    for (const [name, namespace] of spellingsOf(method)) {
      const answer = bytesAnswerer(parts, method, namespace);
      plain.set(methodPath(method, namespace), answer);
      const parent = inNamespace(method.parent, namespace);
      const readMaxBytes = maxBytesOf(method, parts);
      router.rpc({ ...method, parent, methodKind: "unary" }, answerer(method, answer), { readMaxBytes });
      names.add(name);
    }
  }
  addHealth(router, new HealthChecks(parts.chain, names));
  addReflection(router, new Reflection({ services: [...names], files: descriptorFiles, fileOf: fileOfSymbol }));
  return { handlers: new Map(router.handlers.map((handler) => [handler.requestPath, blamingClients(handler)])), plain };
}

/** Largest message of an rpc, in bytes. */
export function maxBytesOf(
  { input }: Pick<DescMethod, "input">,
  { maxMessageBytes }: Pick<RouteParts, "maxMessageBytes">,
): number {
  return Math.min(maxMessageBytes, maxRequestBytes(input));
}

/** The names of the service of an rpc, each with its spelling. */
function spellingsOf({ parent }: DescMethod): ReadonlyMap<string, Namespace> {
  const names = new Map<string, Namespace>();
  for (const namespace of ["sdk", "cosmos"] as const) {
    const { typeName } = inNamespace(parent, namespace);
    if (!names.has(typeName)) names.set(typeName, namespace);
  }
  return names;
}

function addHealth(router: ConnectRouter, health: HealthChecks): void {
  router.service(Health, {
    check: ({ service }) => health.check(service),
    watch: ({ service }, { signal }) => health.watch(service, signal),
  });
}

/** The file that describes a service, a method, a message or an enumeration, in either spelling; undefined if unknown. */
function fileOfSymbol(symbol: string): string | undefined {
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
const lazyRegistry: Registry = {
  kind: "registry",
  get: (name) => messageOf(name) ?? findEnum(name) ?? findService(name),
  getMessage: messageOf,
  getEnum: findEnum,
  getService: findService,
  getExtension: () => undefined,
  getExtensionFor: () => undefined,
  [Symbol.iterator]: () => [][Symbol.iterator](),
};

/** Whether the node is healthy: it is from its first block on. */
class HealthChecks {
  readonly #chain: HealthSource;
  readonly #services: ReadonlySet<string>;
  #watchers = 0;

  /** Names of the services that are served. */
  constructor(chain: HealthSource, services: Iterable<string>) {
    this.#chain = chain;
    this.#services = new Set(["", ...services]);
  }

  async check(service: string): Promise<{ status: Status }> {
    if (this.#services.has(service)) return { status: await this.#status() };
    throw new ConnectError(`there is no service ${JSON.stringify(service.slice(0, 200))}`, Code.NotFound);
  }

  /** Sends the state at once, and again after the first block; then waits until the client disconnects. */
  async *watch(service: string, signal: AbortSignal): AsyncGenerator<{ status: Status }> {
    if (this.#watchers >= MAX_WATCHERS)
      throw new ConnectError(`${MAX_WATCHERS} clients are already watching`, Code.ResourceExhausted);
    this.#watchers += 1;
    try {
      const first = this.#services.has(service) ? await this.#status() : Status.SERVICE_UNKNOWN;
      yield { status: first };
      if (first === Status.NOT_SERVING) {
        await this.#nextBlock(signal);
        yield { status: Status.SERVING };
      }
      await aborted(signal);
    } finally {
      this.#watchers -= 1;
    }
  }

  async #status(): Promise<Status> {
    return (await this.#chain.status()).latest === undefined ? Status.NOT_SERVING : Status.SERVING;
  }

  async #nextBlock(signal: AbortSignal): Promise<void> {
    let stop = (): void => {};
    const block = new Promise<void>((resolve) => {
      stop = this.#chain.events.listen(() => resolve());
    });
    await Promise.race([block, aborted(signal)]);
    stop();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
