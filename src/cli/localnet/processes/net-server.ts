import { createServer } from "node:http";
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
}

export interface NetServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves `version.txt`, `chain-id.txt`, `rpc-nodes.txt`, `trusted-block.txt` and `chain.json` on loopback. */
export async function startNetServer(port: number, files: NetFiles): Promise<NetServer> {
  const pages = new Map([
    ["/version.txt", () => files.version],
    ["/chain-id.txt", () => files.chainId],
    ["/rpc-nodes.txt", () => files.rpcNodes.join("\n")],
    ["/trusted-block.txt", files.trustedBlock],
    ["/chain.json", () => files.chainInfo],
  ]);
  const server = createServer((request, response) => {
    const [path = ""] = (request.url ?? "").split("?");
    const page = pages.get(path)?.();
    const type = page !== undefined && path.endsWith(".json") ? "application/json" : "text/plain; charset=utf-8";
    response.writeHead(page === undefined ? 404 : 200, { "content-type": type });
    response.end(`${page ?? "not found"}\n`);
  });
  const { port: taken } = await listenAt(server, { host: "127.0.0.1", port, option: "--port-offset" });
  return { url: `http://127.0.0.1:${taken}`, close: () => closeServer(server) };
}
