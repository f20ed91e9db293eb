import "./style.css";
import { render } from "preact";
import { follow } from "./live/blocks/head.ts";
import { loadSession } from "./live/chain.ts";
import { Routed } from "./pages/routes.tsx";
import { Frame } from "./parts/frame.tsx";

render(
  <Frame>
    <Routed />
  </Frame>,
  document.body,
);
void loadSession();
follow();
