import { createServer } from "node:http";
import { closeServer, listenAt } from "../../../util/servers/index.ts";

/** The published files of a network. */
export interface NetFiles {
  readonly version: string;
  readonly chainId: string;
  readonly rpcNodes: readonly string[];
  /** Height and hash of a block to trust, with a space between; undefined while there is none. */
  readonly trustedBlock: () => string | undefined;
}

export interface NetServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves `version.txt`, `chain-id.txt`, `rpc-nodes.txt` and `trusted-block.txt` on loopback. */
export async function startNetServer(port: number, files: NetFiles): Promise<NetServer> {
  const pages = new Map([
    ["/version.txt", () => files.version],
    ["/chain-id.txt", () => files.chainId],
    ["/rpc-nodes.txt", () => files.rpcNodes.join("\n")],
    ["/trusted-block.txt", files.trustedBlock],
  ]);
  const server = createServer((request, response) => {
    const [path = ""] = (request.url ?? "").split("?");
    const page = pages.get(path)?.();
    response.writeHead(page === undefined ? 404 : 200, { "content-type": "text/plain; charset=utf-8" });
    response.end(`${page ?? "not found"}\n`);
  });
  const { port: taken } = await listenAt(server, { host: "127.0.0.1", port, option: "--port-offset" });
  return { url: `http://127.0.0.1:${taken}`, close: () => closeServer(server) };
}
