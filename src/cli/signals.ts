/**
 * Resolves when the process is asked to end: Ctrl-C, a service manager, or the end of the command that started it (which
 * holds the other end of its IPC channel).
 */
export function stopRequested(): Promise<"SIGINT" | "SIGTERM" | "disconnect"> {
  return new Promise((resolve) => {
    process.once("SIGINT", () => resolve("SIGINT"));
    process.once("SIGTERM", () => resolve("SIGTERM"));
    if (process.channel !== undefined) process.once("disconnect", () => resolve("disconnect"));
  });
}
