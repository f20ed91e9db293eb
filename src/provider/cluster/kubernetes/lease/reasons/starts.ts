/** Runtimes' errors about a program that is missing in an image, or not executable. */
const NO_PROGRAM =
  /\bexec: "([^"]{1,200})": (?:executable file not found|stat [^:]{1,300}: no such file|(permission denied))/;

/** Reasons of nodes not to run a container that concern its program. */
const OF_PROGRAM = ["CreateContainerError", "RunContainerError"];
/** How they call a program that they could not start, where others have an exit code. */
const NOT_STARTED = ["StartError", "ContainerCannotRun"];

/** Why a program was not started, for its tenant, from its runtime's error. */
export function startText(message: string): string {
  const [, program, isForbidden] = NO_PROGRAM.exec(message) ?? [];
  if (program === undefined)
    return "the node cannot start its program: check command, args and image, or ask the provider";
  if (isForbidden !== undefined) return `the program "${program}" may not be executed: check command, args and image`;
  return `the image has no program "${program}": check command, args and image`;
}

/** Whether a container ended without its program having run. */
export function hasNotStarted(reason: string): boolean {
  return NOT_STARTED.includes(reason);
}

/**
 * Why a container does not run, for its tenant. Nodes describe themselves in their messages, so only known reasons are
 * explained, and others are named.
 */
export function reasonText({ reason, message }: { readonly reason: string; readonly message: string }): string {
  if (OF_PROGRAM.includes(reason)) return startText(message);
  if (reason === "CrashLoopBackOff") return "its program keeps ending, so it starts again later each time: see its log";
  const name = /^[A-Za-z]{1,64}$/.test(reason) ? ` (${reason})` : "";
  return `the node does not start it${name}; ask the provider if that lasts`;
}
