import { setTimeout as pause } from "node:timers/promises";
import { type ControlState, isDraining, setDraining } from "../../../provider/index.ts";
import { EXIT, errorText } from "../../../util/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { type CliContext, createContext } from "../../context/context.ts";
import { commandError, usageError } from "../../errors.ts";
import { printResult } from "../../terminal/output.ts";
import { stopRequested } from "../../terminal/signals.ts";
import { operatedFolder, runningState, stateOfHome } from "./running.ts";

const POLL_MS = 1_000;
/** Orders whose bids a tenant may still take. */
const WAITING: readonly string[] = ["bidding", "open", "withdrawing"];

/** `svc provider drain`. */
export async function providerDrain(input: CommandInput): Promise<number> {
  const context = createContext(input);
  const { flags, home } = context;
  const undo = flags.bool("undo");
  if (undo && flags.bool("wait")) throw usageError("--undo and --wait cannot be used together");
  mark(operatedFolder(home), !undo);
  if (flags.bool("wait")) return waitUntilEmpty(context);
  print(context, await stateOfHome(home));
  return EXIT.done;
}

function mark(folder: string, isOn: boolean): void {
  try {
    setDraining(folder, isOn);
  } catch (cause) {
    const hint = "run the command as the user of the provider";
    throw commandError(`the request could not be written: ${errorText(cause)}`, { hint, cause });
  }
}

/** The last lease has ended when no lease has a record here and no bid can become one. */
async function waitUntilEmpty(context: CliContext): Promise<number> {
  const stop = stopRequested();
  try {
    for (;;) {
      const state = await runningState(context.home);
      if (state.draining && state.leases === 0 && openBids(state) === 0) {
        print(context, state);
        return EXIT.done;
      }
      const stopped = await Promise.race([stop.received.then(() => true), pause(POLL_MS, false)]);
      if (stopped) return EXIT.interrupted;
    }
  } finally {
    stop.forget();
  }
}

function openBids({ orders }: ControlState): number {
  return orders.filter(({ phase }) => WAITING.includes(phase)).length;
}

/** A stopped provider drains from its next start on. */
function print({ home, output, io }: CliContext, state: ControlState | undefined): void {
  const draining = isDraining(operatedFolder(home));
  const figures = state === undefined ? {} : { leases: state.leases, open_bids: openBids(state) };
  printResult({ draining, running: state !== undefined, ...figures }, output, io);
}
