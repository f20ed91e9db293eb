import "./style.css";
import blocksWorker from "virtual:blocks-worker.js";
import { render } from "preact";
import { follow } from "./live/blocks/head.ts";
import { loadSession, session } from "./live/chain.ts";
import { untilLoaded } from "./live/loaded.ts";
import { Routed } from "./pages/routes.tsx";
import { Frame } from "./parts/frame.tsx";

render(
  <Frame>
    <Routed />
  </Frame>,
  document.body,
);
void connectNamed();
follow(blocksWorker);

/** Connects the key of `svc console --from`. A page without such a key needs no accounts at first. */
async function connectNamed(): Promise<void> {
  await untilLoaded(loadSession);
  if (session.peek()?.keys === undefined) return;
  const { adoptNamed } = await untilLoaded(() => import("./live/wallet.ts"));
  await untilLoaded(adoptNamed);
}
