import { formatDec } from "../../../util/index.ts";
import { MsgDepositSchema, MsgVoteSchema, MsgVoteWeightedSchema } from "../../../wire/gen/sdk/gov/v1/tx_pb.js";
import {
  MsgDepositSchema as OldDepositSchema,
  MsgVoteSchema as OldVoteSchema,
  MsgVoteWeightedSchema as OldVoteWeightedSchema,
} from "../../../wire/gen/sdk/gov/v1beta1/tx_pb.js";
import { packAny } from "../../../wire/index.ts";
import type { Flags } from "../../command/flags.ts";
import type { CommandInput } from "../../command/spec.ts";
import { usageError } from "../../errors.ts";
import { coinsArgument } from "../../values/coins.ts";
import { proposalId as readId } from "../../values/proposal-id.ts";
import { runTx } from "../session/run.ts";
import { readVoteOption, readWeights } from "./votes.ts";

/** `tx gov deposit ID COINS`. */
export async function govDeposit(input: CommandInput): Promise<number> {
  const { args, flags } = input;
  const proposalId = readId(args[0] ?? "");
  const amount = coinsArgument(args[1] ?? "", "amount", flags);
  const schema = flags.bool("legacy") ? OldDepositSchema : MsgDepositSchema;
  return runTx(input, ({ sender }) => [packAny(schema, { proposalId, depositor: sender.address, amount })]);
}

/** `tx gov vote ID OPTION`. */
export async function govVote(input: CommandInput): Promise<number> {
  const { args, flags } = input;
  const proposalId = readId(args[0] ?? "");
  const option = readVoteOption(args[1] ?? "");
  const metadata = readMetadata(flags);
  return runTx(input, ({ sender: { address: voter } }) =>
    flags.bool("legacy")
      ? [packAny(OldVoteSchema, { proposalId, voter, option })]
      : [packAny(MsgVoteSchema, { proposalId, voter, option, metadata })],
  );
}

/** `tx gov weighted-vote ID OPTIONS`. The newer message has weights as text, the older one scaled. */
export async function govWeightedVote(input: CommandInput): Promise<number> {
  const { args, flags } = input;
  const proposalId = readId(args[0] ?? "");
  const weights = readWeights(args[1] ?? "");
  const metadata = readMetadata(flags);
  return runTx(input, ({ sender: { address: voter } }) => {
    if (flags.bool("legacy")) {
      const options = weights.map(({ option, weight }) => ({ option, weight: weight.toString() }));
      return [packAny(OldVoteWeightedSchema, { proposalId, voter, options })];
    }
    const options = weights.map(({ option, weight }) => ({ option, weight: formatDec(weight) }));
    return [packAny(MsgVoteWeightedSchema, { proposalId, voter, options, metadata })];
  });
}

function readMetadata(flags: Flags): string {
  const text = flags.text("metadata");
  if (text !== "" && flags.bool("legacy")) {
    throw usageError("--metadata cannot be used with --legacy: the older message has no such field");
  }
  return text;
}
