import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Logger } from "../../util/index.ts";
import { closeServer, type GuardOptions, isLoopback, listenAt, refusal, sendText } from "../http/index.ts";
import { type ChainMetrics, chainMetrics, type Measured } from "./chain-metrics.ts";

export interface MetricsOptions {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** Names besides `localhost` and IP addresses under which requests over loopback are answered. */
  readonly hosts: readonly string[];
}

/** Connections at a time; Prometheus needs one. */
const MAX_CONNECTIONS = 16;
/** Time within which a request must have come, and after which an idle connection ends. */
const TIMEOUT_MS = 10_000;
/** No page of another origin may read metrics. */
const FLAGS = { origins: "nothing", hosts: "--rpc.allowed-hosts" };

/** Figures of the node at `/metrics`, in the form of Prometheus and under the names that CometBFT gives them. */
export class MetricsServer {
  readonly #options: MetricsOptions;
  readonly #guard: GuardOptions;
  readonly #logger: Logger;
  readonly #metrics: ChainMetrics;
  readonly #server: Server;

  constructor(measured: Measured, options: MetricsOptions, logger: Logger) {
    this.#options = options;
    this.#guard = { corsOrigins: [], hosts: options.hosts, flags: FLAGS };
    this.#logger = logger;
    this.#metrics = chainMetrics(measured);
    this.#server = createServer(
      { headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS, keepAliveTimeout: TIMEOUT_MS },
      (request, response) => void this.#answer(request, response),
    );
    this.#server.maxConnections = MAX_CONNECTIONS;
    // A client that reads nothing is gone as well.
    this.#server.setTimeout(TIMEOUT_MS);
  }

  /** Begins to listen; returns the address. Throws one sentence when the port is in use. */
  listen(): Promise<{ host: string; port: number }> {
    return listenAt(this.#server, { ...this.#options, option: "--instrumentation.prometheus-listen-addr" });
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    this.#metrics.stop();
    await closeServer(this.#server);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume();
    const { headers, method, url = "" } = request;
    const refused = refusal({ headers, isLocal: isLoopback(request.socket.localAddress) }, this.#guard);
    if (refused !== undefined) return sendText(response, 403, `${refused}\n`);
    if (method !== "GET" && method !== "HEAD") return sendText(response, 405, "405 only GET\n", { Allow: "GET, HEAD" });
    if (url.split("?", 1)[0] !== "/metrics") return sendText(response, 404, "404 the metrics are at /metrics\n");
    try {
      sendText(response, 200, await this.#metrics.text(), { "Content-Type": this.#metrics.contentType });
    } catch (error) {
      this.#logger.error("the metrics cannot be read", { error });
      sendText(response, 500, "500 the metrics cannot be read; the log of the node says why\n");
    }
  }
}
