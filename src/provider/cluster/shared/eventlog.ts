import { EventEmitter } from "node:events";
import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clearPlace, errorText, type Logger, makePrivateDirectory } from "../../../util/index.ts";
import { type ClusterEvent, leaseNamespace, type ServiceRoute, type StreamOptions } from "../contract/index.ts";
import { LineQueue } from "./queue.ts";

/** Events kept per lease; the oldest go first. */
const KEPT = 500;
/** The file is rewritten when it holds this many lines more than are kept. */
const SLACK = 500;

interface LeaseEvents {
  readonly events: ClusterEvent[];
  lines: number;
}

/** The event log of every lease, on disk so that it outlives the daemon. */
export class EventLog {
  readonly #folder: string;
  readonly #log: Logger;
  readonly #leases = new Map<string, LeaseEvents>();
  readonly #emitter = new EventEmitter();

  constructor(folder: string, log: Logger) {
    this.#folder = folder;
    this.#log = log;
    this.#emitter.setMaxListeners(0);
    makePrivateDirectory(folder);
  }

  add(namespace: string, event: ClusterEvent): void {
    const lease = this.#open(namespace);
    lease.events.push(event);
    if (lease.events.length > KEPT) lease.events.shift();
    this.#write(namespace, lease, event);
    this.#emitter.emit(namespace, event);
  }

  list(namespace: string): readonly ClusterEvent[] {
    return this.#open(namespace).events;
  }

  /** Calls back for every later event, and when the log is removed; returns the function that ends it. */
  subscribe(namespace: string, listener: (event: ClusterEvent) => void, removed: () => void): () => void {
    const end = `${namespace}/removed`;
    this.#emitter.on(namespace, listener).on(end, removed);
    return () => {
      this.#emitter.off(namespace, listener).off(end, removed);
    };
  }

  remove(namespace: string): void {
    this.#leases.delete(namespace);
    this.#emitter.emit(`${namespace}/removed`);
    rmSync(this.#path(namespace), { force: true, recursive: true });
  }

  #path(namespace: string): string {
    return join(this.#folder, `${namespace}.jsonl`);
  }

  #open(namespace: string): LeaseEvents {
    let lease = this.#leases.get(namespace);
    if (lease === undefined) {
      const events = readEvents(this.#path(namespace));
      lease = { events: events.slice(-KEPT), lines: events.length };
      this.#leases.set(namespace, lease);
    }
    return lease;
  }

  /** Events inform people; a full disk must not stop the workloads. */
  #write(namespace: string, lease: LeaseEvents, event: ClusterEvent): void {
    const path = this.#path(namespace);
    try {
      const isWhole = !clearPlace(path) && ++lease.lines <= KEPT + SLACK;
      if (isWhole) appendFileSync(path, `${JSON.stringify(event)}\n`, { mode: 0o600 });
      else this.#rewrite(path, lease);
    } catch (error) {
      this.#log.warn("event could not be written", { err: errorText(error) });
    }
  }

  #rewrite(path: string, lease: LeaseEvents): void {
    writeFileSync(`${path}.new`, lease.events.map((entry) => `${JSON.stringify(entry)}\n`).join(""), { mode: 0o600 });
    renameSync(`${path}.new`, path);
    lease.lines = lease.events.length;
  }
}

/** A last line that a crash cut short is dropped. */
function readEvents(path: string): ClusterEvent[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return [];
  }
  const events: ClusterEvent[] = [];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    try {
      events.push(JSON.parse(line) as ClusterEvent);
    } catch {
      // The line that was cut short.
    }
  }
  return events;
}

/** Events of a lease, oldest first; with `follow` until the signal. */
export async function* streamEvents(
  log: EventLog,
  namespace: string,
  options: StreamOptions,
): AsyncIterable<ClusterEvent> {
  const wanted = (event: ClusterEvent) => options.services.length === 0 || options.services.includes(event.service);
  const queue = new LineQueue<ClusterEvent>();
  const end = () => queue.end();
  const deliver = (event: ClusterEvent) => {
    if (wanted(event)) void queue.push(event);
  };
  const unsubscribe = log.subscribe(namespace, deliver, end);
  options.signal.addEventListener("abort", end, { once: true });
  try {
    const past = log.list(namespace).filter(wanted);
    yield* options.tail >= 0 ? past.slice(past.length - Math.min(options.tail, past.length)) : past;
    if (options.follow && !options.signal.aborted) yield* queue;
  } finally {
    options.signal.removeEventListener("abort", end);
    unsubscribe();
  }
}

/** Tells the tenant which of the http_options the proxy in front does not keep: once for the same options, over restarts. */
export function tellNotKept(events: EventLog, { target, hosts }: ServiceRoute, names: readonly string[]): void {
  const { lease, service } = target;
  const namespace = leaseNamespace(lease);
  const reason = "OptionsNotKept";
  const note = `the provider's gateway does not keep http_options of service "${service}": ${names.join(", ")}; limit them in the program, or take a provider whose ingress keeps them`;
  const before = events.list(namespace).findLast((event) => event.reason === reason && event.service === service);
  if (names.length === 0 || hosts.length === 0 || before?.note === note) return;
  const object = { kind: "Lease", namespace, name: namespace };
  events.add(namespace, { type: "Warning", reason, note, service, object, time: new Date().toISOString() });
}
