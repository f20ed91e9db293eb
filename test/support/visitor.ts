import { request } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { request as requestTls } from "node:https";
import { WebSocket } from "ws";

const LIMIT_MS = 20_000;

export interface Visit {
  readonly path?: string;
  /** Sent with POST. */
  readonly body?: Uint8Array;
}

/**
 * A client that finds every host name at one address, as if a name server said so: ports 80 and 443 there. It trusts one
 * certificate.
 */
export class Visitor {
  readonly #address: string;
  readonly #trusted: string;

  constructor(address: string, trusted: string) {
    this.#address = address;
    this.#trusted = trusted;
  }

  /** Status and body. Every request has a connection of its own. */
  page(host: string, visit: Visit = {}): Promise<string> {
    return this.#ask(host, visit, false);
  }

  /** The same over TLS; rejects where the certificate is not the trusted one or not for the name. */
  securePage(host: string, visit: Visit = {}): Promise<string> {
    return this.#ask(host, visit, true);
  }

  /** The same over HTTP/2, which the server must choose. */
  page2(host: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const session = connectHttp2(`https://${host}`, {
        host: this.#address,
        servername: host,
        ca: this.#trusted,
      });
      session.once("error", reject);
      const stream = session.request({ ":path": "/" });
      let [status, text] = ["", ""];
      stream.once("response", (headers) => {
        status = String(headers[":status"]);
      });
      stream.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      stream.once("error", reject);
      stream.once("end", () => session.close(() => resolve(`${status} ${text.trim()}`)));
    });
  }

  /** A websocket's first message, and its answer to a message. */
  socketWords(host: string, message: string): Promise<string[]> {
    return new Promise((resolve, reject) => {
      const said: string[] = [];
      const socket = new WebSocket(`ws://${this.#address}/`, { headers: { host }, handshakeTimeout: LIMIT_MS });
      socket.once("error", reject);
      socket.on("message", (data) => {
        said.push(String(data));
        if (said.length === 1) return socket.send(message);
        socket.terminate();
        resolve(said);
      });
    });
  }

  #ask(host: string, { path = "/", body }: Visit, secure: boolean): Promise<string> {
    const method = body === undefined ? "GET" : "POST";
    const common = { host: this.#address, method, path, headers: { host }, agent: false as const, timeout: LIMIT_MS };
    return new Promise((resolve, reject) => {
      const sent = secure ? requestTls({ ...common, servername: host, ca: this.#trusted }) : request(common);
      sent.once("response", (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (part: string) => {
          text += part;
        });
        answer.once("end", () => resolve(`${answer.statusCode} ${text.trim()}`));
        answer.once("error", reject);
      });
      sent.once("timeout", () => sent.destroy(new Error(`${host} does not answer`)));
      sent.once("error", reject).end(body);
    });
  }
}
