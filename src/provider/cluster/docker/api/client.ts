import { Agent, type IncomingMessage } from "node:http";
import { Duplex, type Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type Modem from "docker-modem";
import { EngineFailure, engineFailure } from "./failure.ts";

/** A call of the engine's API, without its path. */
export interface EngineCall {
  /** GET if left out. */
  readonly method?: "POST" | "DELETE";
  readonly query?: object | undefined;
  readonly body?: object;
  /** Sent in place of a body. */
  readonly file?: Readable;
  readonly signal?: AbortSignal | undefined;
}

const DONE = { 200: true, 201: true, 204: true };
/** Any other status is an error with the engine's words; 304 answers work that was done before. */
const STATUSES = { GET: DONE, DELETE: DONE, POST: { ...DONE, 304: true } };

/** Calls of the engine at one address. They reject with `EngineFailure`. */
export class EngineClient {
  readonly #modem: Modem;

  private constructor(modem: Modem) {
    this.#modem = modem;
  }

  /** Makes no connection yet. With `timeout`, a call fails after so many milliseconds of silence. */
  static async open(socket: string, timeout?: number): Promise<EngineClient> {
    const [{ default: Client }, { default: http }] = await Promise.all([
      import("docker-modem"),
      import("docker-modem/lib/http.js"),
    ]);
    // The library follows without a listener for errors, so one would end the program.
    http.maxRedirects = 0;
    const address = addressOf(socket);
    // The library would take from it what the address does not say, as the protocol, or refuse it.
    const { DOCKER_HOST: elsewhere } = process.env;
    delete process.env.DOCKER_HOST;
    // A call over a kept connection fails when the engine closes that one at the same moment.
    const modem = new Client({ ...address, timeout, agent: new Agent({ keepAlive: false }) });
    if (elsewhere !== undefined) process.env.DOCKER_HOST = elsewhere;
    return new EngineClient(modem);
  }

  /**
   * The whole answer: a value where it is JSON, its bytes otherwise. It is read as a stream: the library waits forever for the rest of
   * an answer that breaks off, as answers do when the engine is killed.
   */
  async value<T>(path: string, call?: EngineCall): Promise<T> {
    const bytes = await buffer(await this.stream(path, call)).catch(fail);
    try {
      return JSON.parse(bytes.toString("utf8"));
    } catch {
      return bytes as T;
    }
  }

  /** The answer as it comes. */
  async stream(path: string, call?: EngineCall): Promise<IncomingMessage> {
    return (await this.#dial(path, call)) as IncomingMessage;
  }

  /** A connection that goes on in both directions. */
  async talk(path: string, call?: EngineCall): Promise<Duplex> {
    const answer = await this.#dial(path, call, true);
    if (answer instanceof Duplex) return answer;
    (answer as IncomingMessage).destroy();
    throw new EngineFailure("refused", "the engine, or a proxy before it, answers without a connection");
  }

  #dial(path: string, call: EngineCall = {}, hijack = false): Promise<unknown> {
    const { method = "GET", query, body = {}, file, signal } = call;
    const request = {
      ...{ path: query === undefined ? path : `${path}?`, method, file, hijack, isStream: true },
      ...{ statusCodes: STATUSES[method], options: { _query: query ?? {}, _body: body } },
      ...(signal === undefined ? {} : { abortSignal: signal }),
    };
    const answer = new Promise((resolve, reject) => {
      this.#modem.dial(request, (error, value) => (error ? reject(error) : resolve(value)));
    });
    return answer.catch(fail);
  }
}

function addressOf(socket: string): Modem.ConstructorOptions {
  const [, scheme = "", place = ""] = /^(?:([a-z]+):\/\/)?(.*)$/i.exec(socket) ?? [];
  if (/^unix$/i.test(scheme) || (scheme === "" && !/^[\w.-]+:\d+$/.test(place))) return { socketPath: place };
  if (!/^(?:tcp|http)?$/i.test(scheme)) throw new Error("an engine is reached by unix://, tcp:// or http:// alone");
  const { hostname, port } = new URL(`http://${place}`);
  return { protocol: "http", host: hostname, port: port === "" ? 2375 : Number(port) };
}

function fail(error: unknown): never {
  throw engineFailure(error);
}
