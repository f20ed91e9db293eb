import { EXIT } from "../../util/index.ts";
import { isTerminal } from "./is-terminal.ts";

/** The reason for a process to end. */
export type StopReason = "SIGINT" | "SIGTERM" | "SIGHUP" | "disconnect";

/** Set in the environment of processes that end with the one that started them. */
export const SUPERVISED = "SVC_SUPERVISED";

/** A request to end this process. */
export interface StopWish {
  readonly received: Promise<StopReason>;
  /** Everything has stopped: the listeners are removed, and a second Ctrl-C has nothing left to interrupt. */
  forget(): void;
}

type Signal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** The parts of this process that tell of its end. */
export interface EndingProcess {
  readonly env: NodeJS.ProcessEnv;
  readonly connected: boolean;
  on(event: Signal, listener: () => void): unknown;
  on(event: "disconnect", listener: () => void): unknown;
  off(event: Signal | "disconnect", listener: () => void): unknown;
  disconnect(): void;
  exit(code: number): never;
}

/**
 * Watches for the end: Ctrl-C, a service manager, the end of the terminal, or the end of the command that started this
 * process (which holds the other end of its IPC channel). The first request ends things in order, a second Ctrl-C at
 * once, after `interrupted` has told the remains.
 */
export function stopRequested(interrupted: () => void = () => {}, own: EndingProcess = process): StopWish {
  let interrupts = 0;
  let resolve: (reason: StopReason) => void = () => {};
  const received = new Promise<StopReason>((done) => {
    resolve = done;
  });
  const onInterrupt = (): void => {
    interrupts += 1;
    if (interrupts > 1) endAtOnce(interrupted, own);
    resolve("SIGINT");
  };
  const onTerminate = (): void => resolve("SIGTERM");
  // Node.js undoes what nohup does. A process without a terminal has none to lose.
  const usesTerminal = hasTerminal();
  const onHangup = (): void => {
    if (usesTerminal) resolve("SIGHUP");
  };
  const onDisconnect = (): void => resolve("disconnect");
  own.on("SIGINT", onInterrupt);
  own.on("SIGTERM", onTerminate);
  own.on("SIGHUP", onHangup);
  const supervised = own.env[SUPERVISED] === "1";
  if (supervised) own.on("disconnect", onDisconnect);
  // The command that started this process may have been killed before the listener was set.
  if (supervised && !own.connected) onDisconnect();
  const forget = (): void => {
    own.off("SIGINT", onInterrupt);
    own.off("SIGTERM", onTerminate);
    own.off("SIGHUP", onHangup);
    own.off("disconnect", onDisconnect);
    // An open channel would keep the process alive.
    if (supervised && own.connected) own.disconnect();
  };
  return { received, forget };
}

function endAtOnce(interrupted: () => void, own: EndingProcess): never {
  try {
    interrupted();
  } finally {
    own.exit(EXIT.interrupted);
  }
}

function hasTerminal(): boolean {
  return [0, 1, 2].some(isTerminal);
}
