import type { DescMessage } from "@bufbuild/protobuf";
import { messageAction, type Namespace, namespaceOf, toNamespace } from "../wire/index.ts";
import type { BoundMethod, BoundService, Module } from "./module.ts";

const NAMESPACES = ["sdk", "cosmos"] as const satisfies readonly Namespace[];

/** Where a message goes. */
export interface MessageRoute {
  readonly module: Module;
  readonly method: BoundMethod;
  /** `MsgSend`: the name under which modules price their messages. */
  readonly message: string;
  /**
   * Values of the event attribute `message.action`: the action, and the type URL in every spelling if that is not the
   * action itself, because newer tools search for that.
   */
  readonly actions: readonly string[];
}

/** Where a query goes, and the spelling in which it was asked. */
export interface QueryRoute {
  readonly method: BoundMethod;
  readonly namespace: Namespace;
}

/** Finds the handler of a message by its proto name and of a query by its method path, in either spelling. */
export class Router {
  readonly #messages = new Map<string, MessageRoute>();
  /** By the path in every spelling: most clients ask in the other one than ours. */
  readonly #queries = new Map<string, QueryRoute>();

  /** Services of the modules, and of the application itself. */
  constructor(modules: readonly Module[], services: readonly BoundService[] = []) {
    for (const module of modules) {
      for (const service of [module.msg, module.older?.msg])
        for (const method of service?.methods.values() ?? []) this.#addMessage(module, method);
      for (const service of [module.query, module.older?.query]) if (service !== undefined) this.#addQueries(service);
    }
    for (const service of services) this.#addQueries(service);
  }

  message(schema: DescMessage): MessageRoute | undefined {
    return this.#messages.get(schema.typeName);
  }

  /** Paths of all queries in our spelling. */
  get queryPaths(): readonly string[] {
    return [...this.#queries].flatMap(([path, { namespace }]) => (namespace === "sdk" ? [path] : []));
  }

  query(path: string): QueryRoute | undefined {
    return this.#queries.get(path);
  }

  #addQueries({ service, methods }: BoundService): void {
    for (const [name, method] of methods)
      for (const namespace of NAMESPACES) {
        const path = toNamespace(`/${service.typeName}/${name}`, namespace);
        this.#queries.set(path, { method, namespace: namespaceOf(path) });
      }
  }

  #addMessage(module: Module, method: BoundMethod): void {
    const { typeName, name } = method.input;
    if (this.#messages.has(typeName)) throw new Error(`${typeName} has two handlers`);
    const action = messageAction(method.input) ?? `/${typeName}`;
    const urls = NAMESPACES.map((namespace) => toNamespace(`/${typeName}`, namespace));
    this.#messages.set(typeName, {
      module,
      method,
      message: name,
      actions: [...new Set([action, ...urls])],
    });
  }
}
