import { randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { TERMINAL_PAGE } from "../../util/servers/index.ts";

/** A request as far as its right to an answer depends on it. */
export interface Visit {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly isWebsocket: boolean;
}

/** Whether a request is answered: with a refusal, with the cookie for the code of the link, or as asked. */
export type Judgement =
  | { readonly kind: "refused"; readonly status: 401 | 403; readonly sentence: string }
  | { readonly kind: "enters"; readonly cookie: string }
  | { readonly kind: "admitted" };

const SECRET_BYTES = 32;
const ENTRANCE = "/console/";
const API = "/console/api/";
/** Methods that change nothing. */
const READS = new Set(["GET", "HEAD"]);
/** Calls that change something although they are made with GET; some nodes decode the path. */
const CHANGES = /^\/console\/api\/rpc\/[^?]*(?:broadcast_|unsafe_|dial_|%)/;
/** Places in a page of another page (`Sec-Fetch-Dest`). */
const FRAMES = new Set(["iframe", "frame", "embed", "object", "fencedframe"]);

/**
 * Decides who may use a console. It answers one origin alone; a code that works once, in the link that the terminal shows, is changed
 * for a cookie. The name of the cookie has the port in it, as cookies belong to a host on all of its ports.
 */
export class Door {
  readonly origin: string;
  readonly #host: string;
  readonly #cookieName: string;
  readonly #cookie = secret();
  #code: string | undefined = secret();

  constructor(port: number) {
    this.#host = `127.0.0.1:${port}`;
    this.origin = `http://${this.#host}`;
    this.#cookieName = `svc-console-${port}`;
  }

  /** The address to open. It works once. */
  get link(): string {
    return `${this.origin}${ENTRANCE}?code=${this.#code ?? ""}`;
  }

  judge(visit: Visit): Judgement {
    const { method, url, headers } = visit;
    const sentence = this.#foreign(visit);
    if (sentence !== undefined) return { kind: "refused", status: 403, sentence };
    const [path, query = ""] = url.split("?");
    const code = path === ENTRANCE && method === "GET" ? new URLSearchParams(query).get("code") : null;
    const isKnown = cookiesOf(headers, this.#cookieName).some((each) => equal(each, this.#cookie));
    if (code !== null) return isKnown ? this.#welcome() : this.#enter(code);
    if (isKnown) return { kind: "admitted" };
    return { kind: "refused", status: 401, sentence: "open the link that svc console printed in the terminal" };
  }

  #enter(code: string): Judgement {
    if (!equal(code, this.#code)) {
      const sentence = "this link was used before, or is of another start of svc console: start it again for a new one";
      return { kind: "refused", status: 403, sentence };
    }
    this.#code = undefined;
    return this.#welcome();
  }

  #welcome(): Judgement {
    return { kind: "enters", cookie: `${this.#cookieName}=${this.#cookie}; HttpOnly; SameSite=Strict; Path=/console` };
  }

  /** Why a request is of another origin; undefined where it is of this one. */
  #foreign({ method, url, headers, isWebsocket }: Visit): string | undefined {
    const { host, origin } = headers;
    if (host !== this.#host) return `host ${shown(host)} is not served here; open ${this.origin}${ENTRANCE}`;
    const isChange = isWebsocket || !READS.has(method) || CHANGES.test(url);
    if (origin !== this.origin && (origin !== undefined || isChange)) return `origin ${shown(origin)} is not allowed`;
    const site = String(headers["sec-fetch-site"] ?? "same-origin");
    if (url.startsWith(API) && site !== "same-origin" && site !== "none") return "another site asks for this";
    const isOwnFrame = url === TERMINAL_PAGE && headers["sec-fetch-site"] === "same-origin";
    if (FRAMES.has(String(headers["sec-fetch-dest"])) && !isOwnFrame) return "the console stands in no frame";
    return undefined;
  }
}

function secret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

function equal(given: string | undefined, wanted: string | undefined): boolean {
  if (given === undefined || wanted === undefined) return false;
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** All of that name: a server on another port can add one of its own, but not take ours away. */
function cookiesOf({ cookie = "" }: IncomingHttpHeaders, name: string): string[] {
  const own = cookie.split(";").filter((each) => each.trim().startsWith(`${name}=`));
  return own.map((each) => each.trim().slice(name.length + 1));
}

function shown(text: string | undefined): string {
  return text === undefined ? "none" : JSON.stringify(text.slice(0, 100));
}
