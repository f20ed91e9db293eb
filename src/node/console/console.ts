import type { OutgoingHttpHeaders } from "node:http";
import { fileURLToPath } from "node:url";
import { fileAnswer, pageHeaders, StaticFiles } from "../../util/servers/index.ts";

/** Path below which the pages and the interfaces that they ask stand. */
const BELOW = "/console/";
const API = `${BELOW}api/`;
/** The pages ask the node, and gateways of providers that are not known beforehand. */
const HEADERS = pageHeaders("'self' https: wss:");

/** The interfaces of a node that its pages ask on their own origin. */
export type NodeInterface = "rpc" | "rest" | "connect";

const INTERFACES: readonly NodeInterface[] = ["rpc", "rest", "connect"];

/** An answer to GET below the path of the console. */
export interface ConsolePage {
  readonly status: number;
  readonly type: string;
  readonly text: string | Buffer;
  readonly headers: OutgoingHttpHeaders;
}

export interface ConsoleParts {
  readonly files: StaticFiles;
  readonly chainId: string;
  /** The name that the node goes by. */
  readonly moniker: string;
}

/** The console as a node serves it: static pages, and the node's interfaces on the same origin. */
export class NodeConsole {
  readonly #files: StaticFiles;
  readonly #session: string;

  constructor({ files, chainId, moniker }: ConsoleParts) {
    this.#files = files;
    this.#session = JSON.stringify({ mode: "node", chainId, node: moniker });
  }

  /** The interface for which a request is, with the URL that it has there. */
  interfaceOf(url: string): { readonly name: NodeInterface; readonly url: string } | undefined {
    if (!url.startsWith(API)) return undefined;
    const [, word = "", rest = ""] = /^([^/?]*)(.*)$/s.exec(url.slice(API.length)) ?? [];
    const name = INTERFACES.find((each) => each === word);
    return name === undefined ? undefined : { name, url: rest.startsWith("/") ? rest : `/${rest}` };
  }

  /** The answer to GET of a path without its query; undefined for paths that are not the console's. */
  page(path: string, acceptEncoding: string | undefined): ConsolePage | undefined {
    if (path === BELOW.slice(0, -1)) return textPage(308, "the console is at /console/", { Location: "console/" });
    if (!path.startsWith(BELOW)) return undefined;
    if (path === `${API}session`) return jsonPage(this.#session);
    const file = this.#files.find(path.slice(BELOW.length));
    if (file === undefined) return textPage(404, this.#missing());
    const { body, headers } = fileAnswer(file, acceptEncoding);
    return { status: 200, type: file.type, text: body, headers: { ...HEADERS, ...headers } };
  }

  #missing(): string {
    if (this.#files.isBuilt) return "there is no such page; the console is at /console/";
    return "the console is not built: run npm run build in the checkout, then load this page again";
  }
}

function jsonPage(text: string): ConsolePage {
  return { status: 200, type: "application/json", text, headers: { ...HEADERS, "Cache-Control": "no-store" } };
}

function textPage(status: number, sentence: string, headers: OutgoingHttpHeaders = {}): ConsolePage {
  const text = `<!doctype html>\n<meta charset="utf-8">\n<title>${status}</title>\n<p>${sentence}</p>\n`;
  return { status, type: "text/html; charset=utf-8", text, headers: { ...HEADERS, ...headers } };
}

/** The folder of the console's files: beside the built program, or where a checkout builds it. */
export function consoleFiles(from: string = import.meta.url): StaticFiles {
  const place = from.endsWith("/svc.cjs") ? "./console/" : "../../../dist/console/";
  return new StaticFiles(fileURLToPath(new URL(place, from)));
}
