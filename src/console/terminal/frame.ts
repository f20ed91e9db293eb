import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import type { FromTerminal, ToTerminal } from "./messages.ts";

/**
 * The terminal, alone in a frame without an origin: output of strangers reaches neither the console nor the network. It speaks over one
 * port that the console hands in. The bundler puts this script and the styles of the terminal into terminal.html.
 */

/** Lines that scroll back. */
const SCROLLBACK = 5_000;

/** Links of the output lead nowhere: their text may name another target. */
const INERT = { activate: () => undefined };

function start(port: MessagePort): void {
  const terminal = new Terminal({
    scrollback: SCROLLBACK,
    fontFamily: 'ui-monospace, "DejaVu Sans Mono", "Liberation Mono", monospace',
    fontSize: 13,
    linkHandler: INERT,
    screenReaderMode: true,
    theme: { background: "#15171a", foreground: "#e4e6e9" },
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(document.body);
  const say = (message: FromTerminal): void => port.postMessage(message);
  const copy = (): void => say({ kind: "selection", text: terminal.getSelection() });
  terminal.onData((text) => say({ kind: "input", text }));
  terminal.onBinary((text) => say({ kind: "input", text }));
  terminal.onResize(({ cols, rows }) => say({ kind: "size", cols, rows }));
  terminal.attachCustomKeyEventHandler((event) => {
    if (event.type !== "keydown" || !event.ctrlKey || !event.shiftKey) return true;
    if (event.code === "KeyC") copy();
    else if (event.code === "ArrowUp") say({ kind: "leave" });
    else return true;
    event.preventDefault();
    return false;
  });
  port.onmessage = ({ data }: MessageEvent<ToTerminal>) => {
    if (data.kind === "output") terminal.write(data.bytes, () => say({ kind: "shown", bytes: data.bytes.length }));
    else if (data.kind === "reset") terminal.reset();
    else if (data.kind === "copy") copy();
    else terminal.focus();
  };
  new ResizeObserver(() => fit.fit()).observe(document.body);
  fit.fit();
  say({ kind: "size", cols: terminal.cols, rows: terminal.rows });
}

addEventListener("message", ({ source, ports: [port] }) => {
  if (source === parent && port !== undefined) start(port);
});
