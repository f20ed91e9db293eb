import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A way to a node on which the answers to some calls do not come. */
export interface HeldNode {
  readonly address: string;
  /** Holds the answers to a method from now on; resolves when the node has answered the first such call. */
  hold(method: string): Promise<void>;
  /** Ends the connections whose answers were held, and holds no more. */
  release(): void;
  stop(): void;
}

/** Opens a way to the RPC server of a node. */
export async function heldNode(node: string): Promise<HeldNode> {
  const held: ServerResponse[] = [];
  let wanted = "";
  let seen = (): void => {};
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const answer = await fetch(node, { method: "POST", body, headers: { "content-type": "application/json" } });
    const text = await answer.text();
    if (wanted === "" || !body.includes(`"method":"${wanted}"`)) {
      response.writeHead(answer.status, { "content-type": "application/json" }).end(text);
      return;
    }
    held.push(response);
    seen();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const release = (): void => {
    wanted = "";
    for (const each of held.splice(0)) each.destroy();
  };
  const address = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${address.port}`,
    hold(method) {
      wanted = method;
      return new Promise((resolve) => {
        seen = resolve;
      });
    },
    release,
    stop() {
      release();
      server.close();
    },
  };
}
