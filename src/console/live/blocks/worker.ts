import { RpcSocket } from "../../../client/index.ts";
import { follow, type Item } from "./digest.ts";

/** Follows new blocks for a page, which gets the little that it needs of each. The first message is the websocket's URL. */
const tell = (item: Item): void => postMessage(item);

addEventListener("message", ({ data }: MessageEvent<string>) => {
  const onProblem = ({ message }: Error): void => tell({ kind: "lost", reason: message });
  void follow(new RpcSocket(new URL(data), { onProblem }), tell);
});
