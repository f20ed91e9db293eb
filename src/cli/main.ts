import { runProgram } from "./program.ts";
import { isTerminal } from "./terminal/is-terminal.ts";
import { guardProcess } from "./terminal/process-guard.ts";

export { runProgram };

/** The program as the process: its arguments, streams, signals and exit code. */
export async function main(): Promise<void> {
  const argv = process.argv.slice(2);
  guardProcess(
    {
      stdout: process.stdout,
      stderr: process.stderr,
      on: (event, listener) => process.on(event, listener),
      isTerminal,
      removeAllListeners: (event) => process.removeAllListeners(event),
      listenerCount: (event) => process.listenerCount(event),
      end: (signal) => process.kill(process.pid, signal),
      exit: (code) => process.exit(code),
    },
    { trace: argv.includes("--trace") },
  );
  process.exitCode = await runProgram(argv);
}
