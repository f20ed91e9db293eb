import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { errorText, type Logger } from "../../util/index.ts";
import { closeServer, listenAt } from "../../util/servers/index.ts";
import { type Meter, NO_METER } from "./meter.ts";
import { type ProviderState, readings } from "./readings.ts";

/** Bounds of the server of metrics; times in milliseconds. */
export const METRICS_LIMITS = {
  /** Prometheus needs one connection; others are refused beyond this. */
  connections: 32,
  requestsPerConnection: 1_000,
  headerBytes: 8 << 10,
  headersTimeout: 5_000,
  idleTimeout: 10_000,
  /** One text serves all who ask within this time. */
  age: 1_000,
} as const;

export interface MetricsServerOptions {
  readonly host: string;
  readonly port: number;
  /** The text of all metrics now. */
  readonly text: () => Promise<string>;
  readonly contentType: string;
  /** Why the provider is not ready; empty if it is. */
  readonly obstacles: () => readonly string[];
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** `/metrics` for Prometheus, `/healthz` and `/readyz` for supervisors of the process. */
export class MetricsServer {
  readonly #options: MetricsServerOptions;
  readonly #server: Server;
  #kept: { readonly at: number; readonly text: Promise<string> } | undefined;

  constructor(options: MetricsServerOptions) {
    this.#options = options;
    const { connections, requestsPerConnection, headerBytes, headersTimeout, idleTimeout } = METRICS_LIMITS;
    this.#server = createServer(
      {
        maxHeaderSize: headerBytes,
        headersTimeout,
        requestTimeout: headersTimeout,
        keepAliveTimeout: idleTimeout,
        connectionsCheckingInterval: headersTimeout,
      },
      (request, response) => void this.#answer(request, response),
    );
    this.#server.maxConnections = connections;
    this.#server.maxRequestsPerSocket = requestsPerConnection;
    // A client that reads nothing is gone as well.
    this.#server.setTimeout(idleTimeout);
  }

  /** Resolves with the port it listens on; rejects if the port is taken. */
  async listen(): Promise<number> {
    const { host, port, log } = this.#options;
    const { port: taken } = await listenAt(this.#server, { host, port, option: "--metrics-listener" });
    log.info("metrics listens", { host, port: taken });
    return taken;
  }

  close(): Promise<void> {
    return closeServer(this.#server);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume();
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("allow", "GET, HEAD");
      return send(response, 405, "only GET\n");
    }
    if (request.url === "/metrics") return this.#metrics(response);
    if (request.url === "/healthz") return send(response, 200, "ok\n");
    if (request.url === "/readyz") return this.#ready(response);
    send(response, 404, "/metrics, /healthz, /readyz\n");
  }

  async #metrics(response: ServerResponse): Promise<void> {
    try {
      const text = await this.#text();
      response.setHeader("content-type", this.#options.contentType);
      response.end(text);
    } catch (error) {
      this.#options.log.warn("metrics not collected", { err: errorText(error) });
      send(response, 500, "metrics could not be collected; the log says why\n");
    }
  }

  #ready(response: ServerResponse): void {
    const obstacles = this.#options.obstacles();
    if (obstacles.length === 0) send(response, 200, "ready\n");
    else send(response, 503, obstacles.map((each) => `${each}\n`).join(""));
  }

  #text(): Promise<string> {
    const { text, now = Date.now } = this.#options;
    const at = now();
    if (this.#kept === undefined || at - this.#kept.at >= METRICS_LIMITS.age || at < this.#kept.at) {
      this.#kept = { at, text: text() };
    }
    return this.#kept.text;
  }
}

function send(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader("content-type", "text/plain; charset=utf-8");
  response.end(text);
}

/** The address of the metrics server, if any. */
interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/** The provider's state for the metrics server. */
interface MetricsView {
  readonly state: () => ProviderState;
  readonly obstacles: () => readonly string[];
  readonly log: Logger;
}

export interface Metrics {
  readonly meter: Meter;
  /** The metrics server; undefined without an address. */
  readonly serve: ((view: MetricsView) => MetricsServer) | undefined;
}

/** Without an address nothing is loaded and nothing is counted. */
export async function openMetrics(address: MetricsAddress | undefined): Promise<Metrics> {
  if (address === undefined) return { meter: NO_METER, serve: undefined };
  const { MetricRegistry } = await import("./registry.ts");
  const registry = new MetricRegistry();
  const serve = ({ state, obstacles, log }: MetricsView): MetricsServer =>
    new MetricsServer({
      ...address,
      text: () => registry.text(readings(state())),
      contentType: registry.contentType,
      obstacles,
      log,
    });
  return { meter: registry, serve };
}
