import type { DeployReporter } from "../../tenant/index.ts";
import { printable } from "../../util/index.ts";

/** After this much silence the terminal names the awaited event, each time later for the same one. */
const SILENCE_MS = 8_000;
const MAX_SILENCE_MS = 120_000;
const TICK_MS = 500;
const NAME_WIDTH = 12;

export interface TerminalReporter extends DeployReporter {
  /** Prints the sentences alone. */
  waiting(text: string): void;
  note(text: string): void;
  /** Ends the reminders. */
  stop(): void;
}

/** Lines on standard error: one for each step with the time since the start, and a reminder in every long silence. */
export function terminalReporter(
  write: (text: string) => void,
  now: () => number = () => performance.now(),
): TerminalReporter {
  const start = now();
  let spoke = start;
  let awaited = "";
  let patience = SILENCE_MS;
  const line = (text: string, at = now() - start): void => {
    spoke = now();
    write(`[${seconds(at)}] ${printable(text)}\n`);
  };
  const timer = setInterval(() => {
    if (awaited === "" || now() - spoke < patience) return;
    line(`still waiting for ${awaited}`);
    patience = Math.min(patience * 2, MAX_SILENCE_MS);
  }, TICK_MS);
  timer.unref();
  return {
    step({ name, at }, text) {
      awaited = "";
      patience = SILENCE_MS;
      line(`${name.padEnd(NAME_WIDTH)} ${text}`, at);
    },
    waiting(text) {
      awaited = text;
    },
    note(text) {
      spoke = now();
      write(`${printable(text.replace(/\n$/, ""))}\n`);
    },
    stop: () => clearInterval(timer),
  };
}

/** ` 12.3s`, wide enough for the first quarter of an hour. */
function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1).padStart(5)}s`;
}
