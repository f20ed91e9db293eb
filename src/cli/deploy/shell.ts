import { serviceLeases } from "../../tenant/index.ts";
import { EXIT, printable } from "../../util/index.ts";
import type { CommandInput } from "../command/spec.ts";
import { usageError } from "../errors.ts";
import { attachShell, chooseTerminal, type ShellStreams } from "../provider/client/shell.ts";
import { splitWords } from "../provider/client/words.ts";
import { readDseq } from "./policy.ts";
import { asTenant } from "./tenant.ts";

const DEFAULT_SHELL = "sh";

/** `svc deploy shell SERVICE COMMAND...`: ends with the exit code of the command. */
export async function shellCommand(input: CommandInput): Promise<number> {
  const { args, flags, io } = input;
  const [service = "", ...words] = args;
  const streams: ShellStreams = { input: process.stdin, output: process.stdout, error: process.stderr };
  const { tty, stdin } = chooseTerminal(input, streams);
  const command = words.length === 1 ? splitWords(words[0] ?? "") : [...words];
  // A user at a terminal who names no command wants a shell.
  if (command.length === 0 && tty) command.push(DEFAULT_SHELL);
  if (command.length === 0)
    throw usageError("no command to run", "name the service and the command: svc deploy shell web sh");
  const dseq = readDseq(flags);
  const replica = flags.count("replica-index");
  const { signal } = new AbortController();
  return asTenant(input, { tx: {}, signal }, async (tenant) => {
    const [found] = await serviceLeases(tenant.parts, dseq, service);
    if (found === undefined) return EXIT.failed;
    const gateway = await tenant.gateway(found.provider);
    const shell = await gateway.shell(found.lease.id, { service, replica, command, tty, stdin });
    const { exitCode, message } = await attachShell(shell, streams, { tty, stdin });
    if (message !== "") io.err(`Error: ${printable(message)}\n`);
    return message !== "" && exitCode === 0 ? EXIT.failed : exitCode;
  });
}
