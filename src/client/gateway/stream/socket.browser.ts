import { toUtf8 } from "../../../util/index.ts";
import { gatewayClientErrors, StreamEnd } from "../errors.ts";
import { type GatewayCaller, type GatewayTarget, routeUrl, type WebTarget } from "../target.ts";
import { type GatewaySocket, MAX_MESSAGE } from "./feed.ts";

/** Protocol that the gateway confirms; pages cannot send headers, so the token is offered as a further one. */
const PROTOCOL = "svc.gateway.v1";
const BEARER = "svc.bearer.";

/** Bytes that a page may leave unread: it cannot make the provider wait. */
const MOST_UNREAD = 16 << 20;
const TOO_LARGE = 1009;
const LOST = 1006;

const HINT = "browsers do not say why; the status of the lease does, if it can be read";

/** Opens a websocket to a provider; its time for the handshake is that for the connection. */
export async function openSocket(
  target: GatewayTarget | WebTarget,
  path: string,
  caller: GatewayCaller,
): Promise<GatewaySocket> {
  if (!("url" in target)) throw gatewayClientErrors.notInPages();
  const token = await caller.token();
  const url = routeUrl(target, path);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(url, token === undefined ? [PROTOCOL] : [PROTOCOL, BEARER + token]);
  socket.binaryType = "arraybuffer";
  const stream = new PageSocket(socket);
  await opened(socket, caller.connectMs);
  return stream;
}

function opened(socket: WebSocket, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      socket.close();
      reject(gatewayClientErrors.timeout(`no connection within ${timeoutMs / 1000} s`));
    }, timeoutMs);
    socket.addEventListener("open", () => {
      clearTimeout(timer);
      resolve();
    });
    socket.addEventListener("close", () => {
      clearTimeout(timer);
      reject(gatewayClientErrors.unreachable("it does not open the stream", { hint: HINT }));
    });
  });
}

class PageSocket implements GatewaySocket {
  readonly #socket: WebSocket;
  #unread: Uint8Array[] = [];
  #bytes = 0;
  #end: StreamEnd | undefined;
  #wake: () => void = () => {};

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#take(data));
    socket.addEventListener("close", ({ code, reason }) => this.#finish(new StreamEnd(code, reason)));
  }

  get end(): StreamEnd | undefined {
    return this.#end;
  }

  async *messages(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const batch = this.#unread;
      this.#unread = [];
      for (const each of batch) {
        this.#bytes -= each.length;
        yield each;
      }
      if (batch.length > 0) continue;
      if (this.#end !== undefined) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  send(data: Uint8Array<ArrayBuffer>): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(data);
  }

  close(): void {
    this.#socket.close();
  }

  /** The browser waits for the other side's close frame, which a dead connection never sends. */
  abort(): void {
    this.#socket.close();
    this.#finish(new StreamEnd(LOST, ""));
  }

  #take(data: unknown): void {
    if (this.#end !== undefined) return;
    const message = data instanceof ArrayBuffer ? new Uint8Array(data) : toUtf8(String(data));
    this.#bytes += message.length;
    if (message.length > MAX_MESSAGE) this.#refuse("a message is larger than 1 MiB");
    else if (this.#bytes > MOST_UNREAD) this.#refuse("more than 16 MiB are unread");
    else this.#unread.push(message);
    this.#wake();
  }

  #refuse(reason: string): void {
    this.#socket.close();
    this.#finish(new StreamEnd(TOO_LARGE, reason));
  }

  #finish(end: StreamEnd): void {
    this.#end ??= end;
    this.#wake();
  }
}
