import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { RouteTarget } from "../../cluster/index.ts";
import { Balancer } from "./balance.ts";
import { type ClientAnswer, type Exchange, protoOf, type RequestHead } from "./exchange.ts";
import { gatherParts } from "./gather.ts";
import { endToEnd, upstreamHeaders } from "./headers.ts";
import { type PageStatus, sendPage } from "./pages.ts";
import { type Outcome, type RequestNature, RetryBudget } from "./retry.ts";
import { LeaseShares } from "./shares.ts";

const CONNECT_TIMEOUT_MS = 5_000;
/** Informational answers (RFC 9110 section 15.2) that may come before the answer. */
const MAX_INFORMATIONS = 100;

/** Longest headers of an answer, in bytes, unless the deployment asks for more (`proxy_buffer_size`). */
const HEADER_BYTES = 16 << 10;

export function headerBytes({ proxyBufferSize = 0 }: RouteTarget["options"]): number {
  return Math.max(HEADER_BYTES, proxyBufferSize);
}

/** RFC 9112 section 4. */
const REASON = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Addresses of ready replicas, fresh for every try. */
export type Backends = (target: RouteTarget) => readonly string[];

export interface ForwarderOptions {
  readonly backends: Backends;
  /** Whose headers about the client are passed on. */
  readonly isProxy?: (socket: Socket) => boolean;
  readonly openPerLease?: number | undefined;
}

interface Attempt {
  readonly head: RequestHead;
  readonly answer: ClientAnswer;
  readonly target: RouteTarget;
  readonly nature: RequestNature;
  readonly body: BodyGuard;
  readonly headers: readonly string[];
}

/** The result of one try: an answer to pass on, or a reason. */
type Result = { readonly answer: IncomingMessage } | { readonly outcome: Outcome } | { readonly page: PageStatus };

/** Carries requests to replicas and answers back, streaming both ways. */
export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #balancer = new Balancer();
  readonly #shares: LeaseShares;
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 64, timeout: 4_000 });

  constructor(options: ForwarderOptions) {
    this.#options = options;
    this.#shares = new LeaseShares(options.openPerLease);
  }

  /** Headers for the replica. */
  headers(head: RequestHead): string[] {
    return upstreamHeaders(head, protoOf(head.socket), this.#options.isProxy?.(head.socket) === true);
  }

  close(): void {
    this.#agent.destroy();
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
      // What the client or the replica sent cannot be passed on; that must end only this exchange.
      exchange.answer.cut();
    }
  }

  async #forward({ head, hasBody, body: source, answer }: Exchange, target: RouteTarget): Promise<void> {
    const length = Number(head.headers["content-length"] ?? 0);
    if (length > target.options.maxBodySize) return sendPage(answer, 413);
    const nature = { method: head.method ?? "GET", hasBody };
    const body = new BodyGuard(source, target.options.maxBodySize);
    const headers = this.headers(head);
    // HTTP/2 delimits a body of unknown length by itself; towards the replica it is sent in chunks.
    if (hasBody && head.headers["content-length"] === undefined && head.headers["transfer-encoding"] === undefined)
      headers.push("Transfer-Encoding", "chunked");
    const attempt = { head, answer, target, nature, body, headers };
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
    const { head, answer: client, target, nature, body, headers } = attempt;
    const colon = address.lastIndexOf(":");
    return new Promise((resolve) => {
      let sent = false;
      let informations = MAX_INFORMATIONS;
      const upstream = httpRequest({
        host: address.slice(0, colon),
        port: address.slice(colon + 1),
        method: nature.method,
        path: head.url ?? "/",
        headers,
        setHost: false,
        maxHeaderSize: headerBytes(target.options),
        // An idle connection may close under a request; only what can be repeated is sent over one.
        agent: nature.hasBody ? false : this.#agent,
      });
      let settled = false;
      const settle = (result: Result) => {
        settled = true;
        clearTimeout(timer);
        client.offGone(abandon);
        resolve(result);
      };
      const abandon = () => upstream.destroy();
      const fail = (kind: "error" | "timeout") => {
        settle(body.exceeded ? { page: 413 } : { outcome: { kind, sent } });
        upstream.destroy();
      };
      let timer = setTimeout(() => fail("timeout"), CONNECT_TIMEOUT_MS);
      const allow = (milliseconds: number) => {
        if (settled) return;
        clearTimeout(timer);
        timer = setTimeout(() => fail("timeout"), milliseconds);
      };
      client.onGone(abandon);
      upstream.on("error", () => fail("error"));
      upstream.on("information", () => {
        if (--informations < 0) fail("error");
      });
      upstream.on("response", (answer) => {
        if (answer.headers["content-length"] === undefined) gatherParts(answer);
        settle({ answer });
      });
      onConnected(upstream, () => {
        sent = true;
        const { sendTimeout, readTimeout } = target.options;
        allow(nature.hasBody ? sendTimeout : readTimeout);
        body.sendTo(upstream, { progress: () => timer.refresh(), done: () => allow(readTimeout) });
      });
    });
  }

  #finish({ answer: client, target }: Attempt, result: Result): void {
    if ("answer" in result) passOn(client, result.answer, target.options.readTimeout);
    else sendPage(client, pageOf(result));
  }
}

function onConnected(upstream: ClientRequest, ready: () => void): void {
  upstream.once("socket", (socket) => {
    if (socket.connecting) socket.once("connect", ready);
    else ready();
  });
}

/** Hands the request body to the first replica that took the connection, and counts it. */
class BodyGuard {
  readonly #source: Readable;
  readonly #limit: number;
  #started = false;
  #size = 0;
  exceeded = false;

  constructor(source: Readable, limit: number) {
    this.#source = source;
    this.#limit = limit;
  }

  /** `progress` is called for every piece, so that a long upload does not count as a slow answer. */
  sendTo(upstream: ClientRequest, callbacks: { readonly progress: () => void; readonly done: () => void }): void {
    if (this.#started) {
      upstream.end();
      return;
    }
    this.#started = true;
    this.#source.on("data", (chunk: Buffer) => {
      callbacks.progress();
      this.#size += chunk.length;
      if (this.#size > this.#limit) {
        this.exceeded = true;
        upstream.destroy(new Error("body too large"));
      }
    });
    upstream.once("finish", callbacks.done);
    this.#source.pipe(upstream);
  }
}

/** What may be tried elsewhere: a failure, or an answer with an error status. */
function outcomeOf(result: Result): Outcome | undefined {
  if ("page" in result) return undefined;
  if ("outcome" in result) return result.outcome;
  const status = result.answer.statusCode ?? 502;
  return status >= 400 ? { kind: "status", status } : undefined;
}

function pageOf(result: Result): PageStatus {
  if ("page" in result) return result.page;
  return "outcome" in result && result.outcome.kind === "timeout" ? 504 : 502;
}

/** Streams the answer; a replica that falls silent or breaks off cuts the client's connection too. */
function passOn(client: ClientAnswer, answer: IncomingMessage, readTimeout: number): void {
  const { statusCode = 0, statusMessage = "" } = answer;
  if (statusCode < 200) {
    answer.destroy();
    sendPage(client, 502);
    return;
  }
  if (client.gone) {
    answer.destroy();
    return;
  }
  // A reason that holds control characters is left out: clients ignore it (RFC 9110 section 15.1).
  const reason = REASON.test(statusMessage) ? statusMessage : "";
  client.begin(statusCode, reason, endToEnd(answer));
  answer.setTimeout(readTimeout, () => answer.destroy());
  answer.on("error", () => client.cut());
  answer.on("close", () => {
    if (!answer.complete) client.cut();
  });
  client.onGone(() => answer.destroy());
  answer.pipe(client.body);
}
