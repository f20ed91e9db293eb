import { RpcSocket } from "../../../client/index.ts";
import { errorText } from "../../../util/index.ts";
import { digestOf, type Item } from "./digest.ts";

/** Pause after a refused subscription: a node may have too many subscribers for now. */
const REFUSED_MS = 5_000;

/** Follows new blocks for a page, which gets the little that it needs of each. The first message is the websocket's URL. */
const tell = (item: Item): void => postMessage(item);

async function follow(url: string): Promise<void> {
  const socket = new RpcSocket(new URL(url), { onProblem: ({ message }) => tell({ kind: "lost", reason: message }) });
  for (;;) {
    await listen(socket).catch((error: unknown) => tell({ kind: "lost", reason: errorText(error) }));
    await new Promise((resolve) => setTimeout(resolve, REFUSED_MS));
  }
}

/** Rejects when the node refuses the subscription. */
async function listen(socket: RpcSocket): Promise<void> {
  for await (const item of socket.subscribe("tm.event='NewBlock'")) {
    if (item.kind === "resumed") tell(item);
    else tellBlock(item.value);
  }
}

function tellBlock(event: unknown): void {
  try {
    tell({ kind: "block", block: digestOf(event) });
  } catch (error) {
    tell({ kind: "lost", reason: errorText(error) });
  }
}

addEventListener("message", ({ data }: MessageEvent<string>) => void follow(data));
