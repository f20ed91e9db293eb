import "./style.css";
import { render } from "preact";
import { loadSession } from "./live/chain.ts";
import { follow } from "./live/head.ts";
import { Routed } from "./pages/routes.tsx";
import { Frame } from "./parts/frame.tsx";

render(
  <Frame>
    <Routed />
  </Frame>,
  document.body,
);
void loadSession();
void follow();
