import { EXIT } from "../util/index.ts";

/** Why a process is to end. */
export type StopReason = "SIGINT" | "SIGTERM" | "disconnect";

/** Set in the environment of processes that end with the one that started them. */
export const SUPERVISED = "SVC_SUPERVISED";

/** The wish that this process ends. */
export interface StopWish {
  readonly received: Promise<StopReason>;
  /** All is stopped: nothing is listened to any more, and a second Ctrl-C has nothing left to cut short. */
  forget(): void;
}

/**
 * Watches for the end: Ctrl-C, a service manager, or the end of the command that started this process (which holds the
 * other end of its IPC channel). The first wish ends things in order, a second signal at once.
 */
export function stopRequested(): StopWish {
  let asked = false;
  let resolve: (reason: StopReason) => void = () => {};
  const received = new Promise<StopReason>((done) => {
    resolve = done;
  });
  const onSignal = (signal: NodeJS.Signals): void => {
    if (asked) process.exit(EXIT.interrupted);
    asked = true;
    resolve(signal === "SIGINT" ? "SIGINT" : "SIGTERM");
  };
  const onDisconnect = (): void => resolve("disconnect");
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  const supervised = process.env[SUPERVISED] === "1" && process.connected;
  if (supervised) process.once("disconnect", onDisconnect);
  const forget = (): void => {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal).off("disconnect", onDisconnect);
    // An open channel would keep the process alive.
    if (supervised && process.connected) process.disconnect();
  };
  return { received, forget };
}
