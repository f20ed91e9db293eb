import { type BlockPace, blockPace, type ChainClient } from "../../../client/index.ts";
import { DEC_ONE, errorText } from "../../../util/index.ts";
import { Query, type QueryDeploymentResponse } from "../../../wire/gen/svc/deployment/v1beta1/query_pb.js";
import {
  type DeploymentKey,
  formatTimestamp,
  fromNanos,
  type JsonObject,
  parseDeploymentId,
} from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { type CliContext, createContext } from "../../context/context.ts";
import { commandError, usageError } from "../../errors.ts";
import { printResult } from "../../terminal/output.ts";
import { addressFlag } from "../ask.ts";

const NANOS_PER_SECOND = 1_000_000_000n;

/**
 * `query escrow blocks-remaining`: how long the money of a deployment lasts, at the block rate of the last hundred
 * blocks.
 */
export async function queryBlocksRemaining(input: CommandInput): Promise<void> {
  const id = readId(input);
  const context = createContext(input);
  const chain = await context.chain();
  const { value, height } = await deploymentAt(context, chain, id);
  printResult(remaining(value, await blockPace(chain, height)), context.output, input.io);
}

function readId({ args: [text], flags }: CommandInput): DeploymentKey {
  if (text === undefined) {
    flags.need("owner");
    const owner = addressFlag(flags, "owner") ?? "";
    flags.need("dseq");
    return { owner, dseq: flags.uint("dseq") };
  }
  try {
    return parseDeploymentId(text);
  } catch (error) {
    throw usageError(errorText(error), "write deployment/<owner>/<dseq>");
  }
}

async function deploymentAt(context: CliContext, chain: ChainClient, { owner, dseq }: DeploymentKey) {
  const height = context.height();
  return chain.query.callAt(Query.method.deployment, { id: { owner, dseq } }, height === undefined ? {} : { height });
}

/** The account's balance less the earnings since the last settlement, and the block at which the rest ends. */
function remaining({ escrowAccount }: QueryDeploymentResponse, pace: BlockPace): JsonObject {
  const rate = BigInt(escrowAccount?.rateTotal?.amount || "0");
  if (escrowAccount === undefined || rate === 0n) {
    throw commandError("leases for deployment do not exist", { hint: "nothing is paid until a bid is accepted" });
  }
  const { exhaustsAt, settledAt, balance } = escrowAccount;
  const blocks = exhaustsAt > pace.height ? exhaustsAt - pace.height : 0n;
  const earned = ((pace.height - settledAt) * rate) / DEC_ONE;
  const left = BigInt(balance?.amount || "0") - earned;
  const end = pace.time + blocks * pace.blockNanos;
  return {
    balance_remaining: Number(left > 0n ? left : 0n),
    blocks_remaining: Number(blocks),
    estimated_time_remaining: formatGoDuration((blocks * pace.blockNanos) / NANOS_PER_SECOND),
    estimated_end_time: formatTimestamp({ ...fromNanos(end), nanos: 0 }),
  };
}

/** Seconds as the ecosystem writes durations: `19h30m5s`. */
export function formatGoDuration(seconds: bigint): string {
  const [hours, minutes] = [seconds / 3600n, (seconds / 60n) % 60n];
  if (hours > 0n) return `${hours}h${minutes}m${seconds % 60n}s`;
  return minutes > 0n ? `${minutes}m${seconds % 60n}s` : `${seconds}s`;
}
