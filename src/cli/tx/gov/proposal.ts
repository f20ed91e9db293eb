import { create } from "@bufbuild/protobuf";
import { MsgSubmitProposalSchema } from "../../../wire/gen/sdk/gov/v1/tx_pb.js";
import { TextProposalSchema } from "../../../wire/gen/sdk/gov/v1beta1/gov_pb.js";
import { MsgSubmitProposalSchema as OldSubmitProposalSchema } from "../../../wire/gen/sdk/gov/v1beta1/tx_pb.js";
import { packAny } from "../../../wire/index.ts";
import { envName, type Flags } from "../../command/flags.ts";
import type { CommandInput } from "../../command/spec.ts";
import { usageError } from "../../errors.ts";
import { coinsFlag } from "../../values/coins.ts";
import { tellUnknownMessages } from "../files/file.ts";
import { checkShown } from "../files/signing.ts";
import { runTx } from "../session/run.ts";
import { readOlderProposalFile, readProposalFile } from "./proposal-file.ts";

/** Flags of proposals before release 0.46. */
const OLDER_FLAGS = ["title", "description", "type", "deposit", "proposal"] as const;

/** `tx gov submit-proposal FILE`, or the older form with `--title`, `--description` and `--deposit`. */
export async function govSubmitProposal(input: CommandInput): Promise<number> {
  const { args, flags } = input;
  const [path] = args;
  const older = OLDER_FLAGS.find((name) => flags.given(name) && name !== "type");
  if (path === undefined) {
    if (older === undefined) throw usageError("missing required argument 'file'", "or give --title and --description");
    return govSubmitLegacyProposal(input);
  }
  if (older !== undefined) throw usageError(`--${older} repeats what is in the file: give either <file> or --${older}`);
  const proposal = readProposalFile(path, flags);
  const { messages } = create(MsgSubmitProposalSchema, proposal);
  tellUnknownMessages(messages, input.io);
  checkShown(messages, flags);
  return runTx(input, ({ sender }) => [packAny(MsgSubmitProposalSchema, { ...proposal, proposer: sender.address })]);
}

/**
 * `tx gov submit-legacy-proposal --title T --description D --deposit COINS`, or all of it in a file of `--proposal`.
 */
export async function govSubmitLegacyProposal(input: CommandInput): Promise<number> {
  const { flags } = input;
  const { title, description, deposit: initialDeposit } = readOlder(flags);
  const content = packAny(TextProposalSchema, { title, description }, flags.profile.namespace);
  return runTx(input, ({ sender }) => [
    packAny(OldSubmitProposalSchema, { content, initialDeposit, proposer: sender.address }),
  ]);
}

function readOlder(flags: Flags) {
  const path = flags.optional("proposal");
  if (path === undefined) {
    checkType(flags.text("type"));
    const [title, description] = [need(flags, "title"), need(flags, "description")];
    return { title, description, deposit: coinsFlag(flags, "deposit") ?? [] };
  }
  const other = OLDER_FLAGS.find((name) => name !== "proposal" && flags.given(name));
  if (other !== undefined) throw usageError(`--${other} and --proposal cannot be used together`);
  const proposal = readOlderProposalFile(path);
  checkType(proposal.type);
  return proposal;
}

function need(flags: Flags, name: string): string {
  const text = flags.text(name).trim();
  if (text === "") throw usageError(`required flag --${name} is not set (or ${envName(name)})`);
  return text;
}

function checkType(type: string): void {
  if (/^text$/i.test(type)) return;
  throw usageError(
    `proposals of type "${type.slice(0, 64)}" cannot be made from flags, only those of type Text`,
    "write its messages into a file: svc tx gov submit-proposal <file>",
  );
}
