import { createReadStream, existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { closeServer, listenAt } from "../../../util/servers/index.ts";

/** The published files of a network. */
export interface NetFiles {
  readonly version: string;
  readonly chainId: string;
  readonly rpcNodes: readonly string[];
  /** The chain as wallets take it into their lists, as JSON. */
  readonly chainInfo: string;
  /** Height and hash of a block to trust, with a space between; undefined while there is none. */
  readonly trustedBlock: () => string | undefined;
  /** Folder of a release, as `npm run release` makes it; undefined = none is served. */
  readonly releases?: string;
}

export interface NetServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Paths of a release: its version, its installer, and files of its versions. */
const OF_RELEASE = /^\/(?:version\.txt|install\.sh|releases\/v[\d.]+\/\w[\w.-]*)$/;

/** Whether a folder holds a release. */
export function holdsRelease(folder: string): boolean {
  return existsSync(join(folder, "version.txt")) && existsSync(join(folder, "install.sh"));
}

/** Serves `version.txt`, `chain-id.txt`, `rpc-nodes.txt`, `trusted-block.txt` and `chain.json` on loopback, and the files of a release. */
export async function startNetServer(port: number, files: NetFiles): Promise<NetServer> {
  const { releases } = files;
  const pages = new Map([
    ["/version.txt", () => files.version],
    ["/chain-id.txt", () => files.chainId],
    ["/rpc-nodes.txt", () => files.rpcNodes.join("\n")],
    ["/trusted-block.txt", files.trustedBlock],
    ["/chain.json", () => files.chainInfo],
  ]);
  const server = createServer((request, response) => {
    const [path = ""] = (request.url ?? "").split("?");
    if (releases !== undefined && OF_RELEASE.test(path)) return void sendFile(response, join(releases, path));
    const page = pages.get(path)?.();
    const type = page !== undefined && path.endsWith(".json") ? "application/json" : "text/plain; charset=utf-8";
    response.writeHead(page === undefined ? 404 : 200, { "content-type": type });
    response.end(`${page ?? "not found"}\n`);
  });
  const { port: taken } = await listenAt(server, { host: "127.0.0.1", port, option: "--port-offset" });
  return { url: `http://127.0.0.1:${taken}`, close: () => closeServer(server) };
}

async function sendFile(response: ServerResponse, path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) {
    response.writeHead(404, { "content-type": "text/plain; charset=utf-8" });
    response.end("not found\n");
    return;
  }
  const type = path.endsWith(".txt") ? "text/plain; charset=utf-8" : "application/octet-stream";
  response.writeHead(200, { "content-type": type, "content-length": found.size });
  // A client that goes away ends the answer, and nothing else.
  await pipeline(createReadStream(path), response).catch(() => {});
}
