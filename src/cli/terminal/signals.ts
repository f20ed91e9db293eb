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

/**
 * Watches for the end: Ctrl-C, a service manager, the end of the terminal, or the end of the command that started this
 * process (which holds the other end of its IPC channel). The first request ends things in order, a second Ctrl-C at
 * once, after `interrupted` has told the remains.
 */
export function stopRequested(interrupted: () => void = () => {}): StopWish {
  let interrupts = 0;
  let resolve: (reason: StopReason) => void = () => {};
  const received = new Promise<StopReason>((done) => {
    resolve = done;
  });
  const onInterrupt = (): void => {
    interrupts += 1;
    if (interrupts > 1) endAtOnce(interrupted);
    resolve("SIGINT");
  };
  const onTerminate = (): void => resolve("SIGTERM");
  // Node.js undoes what nohup does. A process without a terminal has none to lose.
  const usesTerminal = hasTerminal();
  const onHangup = (): void => {
    if (usesTerminal) resolve("SIGHUP");
  };
  const onDisconnect = (): void => resolve("disconnect");
  process.on("SIGINT", onInterrupt).on("SIGTERM", onTerminate).on("SIGHUP", onHangup);
  const supervised = process.env[SUPERVISED] === "1";
  if (supervised) process.once("disconnect", onDisconnect);
  // The command that started this process may have been killed before the listener was set.
  if (supervised && !process.connected) onDisconnect();
  const forget = (): void => {
    process.off("SIGINT", onInterrupt).off("SIGTERM", onTerminate).off("SIGHUP", onHangup);
    process.off("disconnect", onDisconnect);
    // An open channel would keep the process alive.
    if (supervised && process.connected) process.disconnect();
  };
  return { received, forget };
}

function endAtOnce(interrupted: () => void): never {
  try {
    interrupted();
  } finally {
    process.exit(EXIT.interrupted);
  }
}

function hasTerminal(): boolean {
  return [0, 1, 2].some(isTerminal);
}
