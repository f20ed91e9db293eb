import "./style.css";
import blocksWorker from "virtual:blocks-worker.js";
import { render } from "preact";
import { follow } from "./live/blocks/head.ts";
import { loadSession, session } from "./live/chain.ts";
import { Routed } from "./pages/routes.tsx";
import { Frame } from "./parts/frame.tsx";

render(
  <Frame>
    <Routed />
  </Frame>,
  document.body,
);
void loadSession().then(connectNamed);
follow(blocksWorker);

/** A page without such a key needs no accounts at first. */
async function connectNamed(): Promise<void> {
  if (session.peek()?.keys === undefined) return;
  const { adoptNamed } = await import("./live/wallet.ts");
  await adoptNamed();
}
