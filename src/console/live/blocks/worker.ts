import { RpcSocket } from "../../../client/index.ts";
import { errorText } from "../../../util/index.ts";
import { digestOf, type Item } from "./digest.ts";

/** Follows new blocks for a page, which gets the little that it needs of each. The first message is the websocket's URL. */
const tell = (item: Item): void => postMessage(item);

async function follow(url: string): Promise<void> {
  const socket = new RpcSocket(new URL(url), { onProblem: ({ message }) => tell({ kind: "lost", reason: message }) });
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

addEventListener("message", ({ data }: MessageEvent<string>) => {
  follow(data).catch((error: unknown) => tell({ kind: "lost", reason: errorText(error) }));
});
