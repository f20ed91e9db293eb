import { chmodSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { join } from "node:path";
import * as v from "valibot";
import { errorText, formatDecShort, type Logger, readWholeText, tryJson } from "../../util/index.ts";
import { closeServer } from "../../util/servers/index.ts";
import { formatOrderId } from "../../wire/index.ts";
import type { OrderEntry } from "../orders/index.ts";
import { type PriceChange, priceChange } from "../pricing/index.ts";
import { socketPath } from "../socket-path.ts";
import { CONTROL_LIMITS, CONTROL_SOCKET, type ControlOrder, type ControlState } from "./protocol.ts";

/** The running provider's state for the operator's commands. */
export interface ControlView extends Pick<ControlState, "provider" | "started_at" | "draining" | "leases" | "probe"> {
  readonly obstacles: readonly string[];
  readonly orders: readonly OrderEntry[];
}

export interface ControlOptions {
  /** The provider's folder. */
  readonly folder: string;
  readonly view: () => ControlView;
  /** Answer to `/facts`; nothing if absent. */
  readonly facts?: (view: ControlView) => object;
  /** Throws one sentence if the prices cannot be. */
  readonly changePrices?: (change: PriceChange) => void;
  /** The answer to a change that is not made; throws as `changePrices` does. */
  readonly tryPrices?: (change: PriceChange, view: ControlView) => Promise<object>;
  readonly log: Logger;
}

/** A socket in the provider's folder on which its operator's commands read its state. */
export class ControlServer {
  readonly #options: ControlOptions;
  readonly #server: Server;
  #release: () => void = () => {};

  constructor(options: ControlOptions) {
    this.#options = options;
    const { timeoutMs, connections } = CONTROL_LIMITS;
    this.#server = createServer({ requestTimeout: timeoutMs, headersTimeout: timeoutMs }, (request, response) => {
      this.#answer(request).then(
        (answer) => {
          response.statusCode = answer === undefined ? 404 : 200;
          response.end(answer === undefined ? "" : JSON.stringify(answer));
        },
        (error: unknown) => {
          response.statusCode = 400;
          response.end(errorText(error));
        },
      );
    });
    this.#server.maxConnections = connections;
    this.#server.setTimeout(timeoutMs);
  }

  async #answer(request: IncomingMessage): Promise<object | undefined> {
    const { view, facts, changePrices, tryPrices } = this.#options;
    const { url, method } = request;
    const text = await readWholeText(request, CONTROL_LIMITS.request, () => new Error("the request is too large"));
    if (url === "/state") return stateOf(view());
    if (url === "/facts") return facts?.(view());
    if (url === "/prices/try" && method === "PUT") return tryPrices?.(v.parse(priceChange, tryJson(text)), view());
    if (url !== "/prices" || method !== "PUT" || changePrices === undefined) return undefined;
    changePrices(v.parse(priceChange, tryJson(text)));
    return {};
  }

  /** If the folder cannot hold sockets, only the commands fail, not the provider. */
  async listen(): Promise<void> {
    const { folder, log } = this.#options;
    try {
      // The lock of the home says that no other provider listens there.
      rmSync(join(folder, CONTROL_SOCKET), { force: true, recursive: true });
      const { path, release } = socketPath(folder, CONTROL_SOCKET);
      this.#release = release;
      await new Promise<void>((resolve, reject) => {
        this.#server.once("error", reject);
        this.#server.listen(path, resolve);
      });
      chmodSync(join(folder, CONTROL_SOCKET), 0o600);
    } catch (error) {
      log.warn("svc provider orders and why cannot ask this provider", { folder, err: errorText(error) });
    }
  }

  async close(): Promise<void> {
    await closeServer(this.#server);
    this.#release();
    this.#release = () => {};
  }
}

export function stateOf({ orders, obstacles, ...rest }: ControlView): ControlState {
  const latest = orders.slice(-CONTROL_LIMITS.orders);
  return {
    ...rest,
    obstacles: obstacles.map(shortened),
    orders: latest.map(orderOf),
    omitted: orders.length - latest.length,
  };
}

function orderOf({ id, phase, reason, obstacle, againAt, price, detectedAt }: OrderEntry): ControlOrder {
  return {
    order: formatOrderId(id),
    phase,
    ...(reason === undefined ? {} : { reason: shortened(reason) }),
    ...(obstacle === undefined ? {} : { obstacle }),
    ...(againAt === undefined ? {} : { again_at: new Date(againAt).toISOString() }),
    ...(price === undefined ? {} : { price: formatDecShort(price) }),
    detected_at: new Date(detectedAt).toISOString(),
  };
}

export function shortened(text: string): string {
  return text.length > CONTROL_LIMITS.reason ? `${text.slice(0, CONTROL_LIMITS.reason)}...` : text;
}
