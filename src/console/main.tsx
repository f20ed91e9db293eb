import "./style.css";
import { render } from "preact";
import { loadSession, session } from "./live/chain.ts";
import { follow } from "./live/head.ts";
import { Routed } from "./pages/routes.tsx";
import { Frame } from "./parts/frame.tsx";

render(
  <Frame>
    <Routed />
  </Frame>,
  document.body,
);
void loadSession().then(connectNamed);
void follow();

/** A page without such a key needs no accounts at first. */
async function connectNamed(): Promise<void> {
  if (session.peek()?.keys === undefined) return;
  const { adoptNamed } = await import("./live/wallet.ts");
  await adoptNamed();
}
