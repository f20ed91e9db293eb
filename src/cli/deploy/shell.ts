import { EXIT } from "../../util/index.ts";
import { usageError } from "../errors.ts";
import { attachShell, type ShellStreams } from "../provider-client/shell.ts";
import { splitWords } from "../provider-client/words.ts";
import type { CommandInput } from "../spec.ts";
import { serviceLeases } from "./pick.ts";
import { readDseq } from "./policy.ts";
import { asTenant } from "./tenant.ts";

/** `svc deploy shell SERVICE -- COMMAND...`: ends with the exit code of the command. */
export async function shellCommand(input: CommandInput): Promise<number> {
  const { args, flags, io } = input;
  const [service = "", ...words] = args;
  const command = words.length === 1 ? splitWords(words[0] ?? "") : words;
  if (command.length === 0)
    throw usageError("no command to run", `write it behind --: svc deploy shell ${service} -- sh`);
  const streams: ShellStreams = { input: process.stdin, output: process.stdout, error: process.stderr };
  const { tty, stdin } = terminalOf(input, streams);
  const dseq = readDseq(flags);
  const replica = flags.count("replica-index");
  const { signal } = new AbortController();
  return asTenant(input, { tx: {}, signal }, async (tenant) => {
    const [found] = await serviceLeases(tenant.parts, dseq, service);
    if (found === undefined) return EXIT.failed;
    const gateway = await tenant.gateway(found.provider);
    const shell = await gateway.shell(found.lease.id, { service, replica, command, tty, stdin });
    const { exitCode, message } = await attachShell(shell, streams, { tty, stdin });
    if (message !== "") io.err(`Error: ${message}\n`);
    return message !== "" && exitCode === 0 ? EXIT.failed : exitCode;
  });
}

/** Where somebody sits at a terminal, the command gets it, unless the flags say otherwise. */
function terminalOf({ flags }: CommandInput, { input, output }: ShellStreams) {
  const atTerminal = input.isTTY === true && output.isTTY === true;
  const isChosen = flags.given("tty") || flags.given("stdin");
  const tty = flags.bool("tty") || (!isChosen && atTerminal);
  if (tty && input.isTTY !== true) throw usageError("--tty needs a terminal; leave it out where input is piped");
  return { tty, stdin: flags.bool("stdin") || tty };
}
