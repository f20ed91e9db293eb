import { createServer } from "node:http";
import { closeServer, listenAt } from "../../../util/servers/index.ts";

/** The published files of a network: version, chain id and RPC nodes. */
export interface NetFiles {
  readonly version: string;
  readonly chainId: string;
  readonly rpcNodes: readonly string[];
}

export interface NetServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves `version.txt`, `chain-id.txt` and `rpc-nodes.txt` on loopback. */
export async function startNetServer(port: number, files: NetFiles): Promise<NetServer> {
  const pages = new Map([
    ["/version.txt", `${files.version}\n`],
    ["/chain-id.txt", `${files.chainId}\n`],
    ["/rpc-nodes.txt", `${files.rpcNodes.join("\n")}\n`],
  ]);
  const server = createServer((request, response) => {
    const [path = ""] = (request.url ?? "").split("?");
    const page = pages.get(path);
    response.writeHead(page === undefined ? 404 : 200, { "content-type": "text/plain; charset=utf-8" });
    response.end(page ?? "not found\n");
  });
  const { port: taken } = await listenAt(server, { host: "127.0.0.1", port, option: "--port-offset" });
  return { url: `http://127.0.0.1:${taken}`, close: () => closeServer(server) };
}
