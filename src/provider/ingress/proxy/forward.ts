import type { Socket } from "node:net";
import { formatLeaseId } from "../../../wire/index.ts";
import type { RouteTarget } from "../../cluster/index.ts";
import { type ClientAnswer, type Exchange, protoOf, type RequestHead } from "./exchange.ts";
import { passedTrailers, upstreamHeaders } from "./headers.ts";
import { type PageStatus, sendPage } from "./pages.ts";
import { type ReplicaAnswer, type ReplicaCall, type ReplicaRequest, Replicas } from "./replica.ts";
import { Balancer, type Outcome, type RequestNature, RetryBudget } from "./retry.ts";

export const CONNECT_TIMEOUT_MS = 5_000;
/**
 * Open requests and websockets of one lease: a quarter of all connections. Otherwise a tenant with visitors from many
 * addresses who hold their connections could keep all others out.
 */
const OPEN_PER_LEASE = 1_024;
/** Informational answers that may come before the answer. */
const MAX_INFORMATIONS = 100;

/** Addresses of ready replicas, fresh for every try. */
export type Backends = (target: RouteTarget) => readonly string[];

export interface ForwarderOptions {
  readonly backends: Backends;
  /** Whose headers about the client are passed on. */
  readonly isProxy?: (socket: Socket) => boolean;
  readonly openPerLease?: number | undefined;
}

interface Attempt extends ReplicaRequest {
  readonly answer: ClientAnswer;
  readonly nature: RequestNature;
  readonly body: BodyGuard;
}

/** The result of one try: an answer to pass on, or a reason. */
type Result = { readonly answer: ReplicaAnswer } | { readonly outcome: Outcome } | { readonly page: PageStatus };

/** Carries requests to replicas and answers back, streaming both ways. */
export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #balancer = new Balancer();
  readonly #shares: LeaseShares;
  readonly #replicas = new Replicas();

  constructor(options: ForwarderOptions) {
    this.#options = options;
    this.#shares = new LeaseShares(options.openPerLease);
  }

  /** Headers for the replica. */
  headers(head: RequestHead): string[] {
    return upstreamHeaders(head, protoOf(head.socket), this.#options.isProxy?.(head.socket) === true);
  }

  close(): void {
    this.#replicas.close();
  }

  /** Counts something that is open of the target's lease; undefined where it has its share. */
  enter(target: RouteTarget): (() => void) | undefined {
    return this.#shares.enter(target);
  }

  /** Never rejects: every end is an answer or a cut connection. */
  async forward(exchange: Exchange, target: RouteTarget): Promise<void> {
    const leave = this.enter(target);
    if (leave === undefined) return sendPage(exchange.answer, 503);
    exchange.answer.onGone(leave);
    try {
      await this.#forward(exchange, target);
    } catch {
      // The client's or the replica's data cannot be passed on; only this exchange ends.
      exchange.answer.cut();
    }
  }

  async #forward(exchange: Exchange, target: RouteTarget): Promise<void> {
    const { head, hasBody, answer } = exchange;
    const length = Number(head.headers["content-length"] ?? 0);
    if (length > target.options.maxBodySize) return sendPage(answer, 413);
    const nature = { method: head.method ?? "GET", hasBody };
    const body = new BodyGuard(exchange, target.options.maxBodySize);
    const headers = this.headers(head);
    // HTTP/2 delimits a body of unknown length by itself; towards the replica it is sent in chunks.
    if (hasBody && head.headers["content-length"] === undefined && head.headers["transfer-encoding"] === undefined)
      headers.push("Transfer-Encoding", "chunked");
    const attempt = { head, answer, target, nature, hasBody, body, headers };
    const budget = new RetryBudget(target.options, nature, Date.now());
    const tried = new Set<string>();
    let last: Result = { page: 503 };
    for (;;) {
      const address = this.nextBackend(target, tried);
      // If no replica is left to ask, the last answer counts.
      if (address === undefined) return this.#finish(attempt, last);
      tried.add(address);
      const result = await this.#try(attempt, address);
      if ("answer" in last) last.answer.destroy();
      last = result;
      const outcome = outcomeOf(result);
      if (outcome === undefined || answer.gone || !budget.mayRetry(outcome, Date.now())) {
        return this.#finish(attempt, result);
      }
    }
  }

  /** The next replica to ask, or undefined. */
  nextBackend(target: RouteTarget, tried: ReadonlySet<string>): string | undefined {
    return this.#balancer.next(this.#options.backends(target), tried, Date.now());
  }

  noteFailure(address: string): void {
    this.#balancer.noteFailure(address, Date.now());
  }

  async #try(attempt: Attempt, address: string): Promise<Result> {
    const result = await this.#askReplica(attempt, address);
    const lost = "outcome" in result && result.outcome.kind !== "status" && !result.outcome.sent;
    // A client that has left says nothing about the replica.
    if (lost && !attempt.answer.gone) this.noteFailure(address);
    return result;
  }

  /** One try. Resolves when the replica's headers have arrived or the try failed; the request body is sent meanwhile. */
  #askReplica(attempt: Attempt, address: string): Promise<Result> {
    const { answer: client, target, nature, body } = attempt;
    const { sendTimeout, readTimeout } = target.options;
    return new Promise((resolve) => {
      let sent = false;
      let informations = MAX_INFORMATIONS;
      let settled = false;
      const settle = (result: Result) => {
        settled = true;
        clearTimeout(timer);
        client.offGone(abandon);
        resolve(result);
      };
      const abandon = () => call.destroy();
      const fail = (kind: "error" | "timeout") => {
        if (settled) return;
        settle(body.exceeded ? { page: 413 } : { outcome: { kind, sent } });
        call.destroy();
      };
      const allow = (milliseconds: number) => {
        if (settled) return;
        clearTimeout(timer);
        timer = setTimeout(() => fail("timeout"), milliseconds);
      };
      const call = this.#replicas.call(address, attempt, {
        connected: () => {
          sent = true;
          allow(nature.hasBody ? sendTimeout : readTimeout);
          body.sendTo(call, { progress: () => timer.refresh(), done: () => allow(readTimeout) });
        },
        information: () => {
          if (--informations < 0) fail("error");
        },
        answer: (answer) => settle({ answer }),
        failed: () => fail("error"),
      });
      let timer = setTimeout(() => fail("timeout"), CONNECT_TIMEOUT_MS);
      client.onGone(abandon);
    });
  }

  #finish({ answer: client, target }: Attempt, result: Result): void {
    if ("answer" in result) passOn(client, result.answer, target.options.readTimeout);
    else sendPage(client, pageOf(result));
  }
}

/** Hands the request body to the first replica that took the connection, and counts it. */
class BodyGuard {
  readonly #exchange: Exchange;
  readonly #limit: number;
  #started = false;
  #size = 0;
  exceeded = false;

  constructor(exchange: Exchange, limit: number) {
    this.#exchange = exchange;
    this.#limit = limit;
  }

  /** `progress` is called for every piece, so that a long upload does not count as a slow answer. */
  sendTo(call: ReplicaCall, callbacks: { readonly progress: () => void; readonly done: () => void }): void {
    if (this.#started) {
      call.body.end();
      return;
    }
    this.#started = true;
    const { body, trailers } = this.#exchange;
    body.on("data", (chunk: Buffer) => {
      callbacks.progress();
      this.#size += chunk.length;
      if (this.#size > this.#limit) {
        this.exceeded = true;
        call.destroy();
      }
    });
    // Before the pipe's own listener, which ends the request.
    body.once("end", () => call.trail(passedTrailers(trailers())));
    call.body.once("finish", callbacks.done);
    body.pipe(call.body);
  }
}

/** Counts the open requests of each lease. */
class LeaseShares {
  readonly #most: number;
  readonly #open = new Map<string, number>();
  readonly #leases = new WeakMap<RouteTarget, string>();

  constructor(most = OPEN_PER_LEASE) {
    this.#most = most;
  }

  /** Undefined where the lease has its share; otherwise to be called, once or more, when it has ended. */
  enter(target: RouteTarget): (() => void) | undefined {
    const lease = this.leaseOf(target);
    const count = this.#open.get(lease) ?? 0;
    if (count >= this.#most) return undefined;
    this.#open.set(lease, count + 1);
    let isOpen = true;
    return () => {
      if (isOpen) this.#leave(lease);
      isOpen = false;
    };
  }

  /** The text of the target's lease. */
  leaseOf(target: RouteTarget): string {
    const known = this.#leases.get(target);
    if (known !== undefined) return known;
    const lease = formatLeaseId(target.lease);
    this.#leases.set(target, lease);
    return lease;
  }

  #leave(lease: string): void {
    const left = (this.#open.get(lease) ?? 1) - 1;
    if (left === 0) this.#open.delete(lease);
    else this.#open.set(lease, left);
  }
}

/** The failure or error status after which another replica may be tried. */
function outcomeOf(result: Result): Outcome | undefined {
  if ("page" in result) return undefined;
  if ("outcome" in result) return result.outcome;
  const { status } = result.answer;
  return status >= 400 ? { kind: "status", status } : undefined;
}

function pageOf(result: Result): PageStatus {
  if ("page" in result) return result.page;
  return "outcome" in result && result.outcome.kind === "timeout" ? 504 : 502;
}

/** Streams the answer; a replica that falls silent or breaks off cuts the client's connection too. */
function passOn(client: ClientAnswer, answer: ReplicaAnswer, readTimeout: number): void {
  const { body } = answer;
  if (answer.status < 200) {
    answer.destroy();
    sendPage(client, 502);
    return;
  }
  if (client.gone) {
    answer.destroy();
    return;
  }
  client.begin(answer);
  body.setTimeout(readTimeout, () => answer.destroy());
  body.on("error", () => client.cut());
  // Before the pipe's own listener, which ends the answer.
  body.once("end", () => {
    if (answer.isComplete()) client.trail(passedTrailers(answer.trailers()));
    else client.cut();
  });
  body.on("close", () => {
    if (!answer.isComplete()) client.cut();
  });
  client.onGone(() => answer.destroy());
  body.pipe(client.body);
}
