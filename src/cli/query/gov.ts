import type { DescMethod } from "@bufbuild/protobuf";
import { eventsQuery, isMissingQuery, searchTxs } from "../../client/index.ts";
import { Query as NewQuery } from "../../wire/gen/sdk/gov/v1/query_pb.js";
import { ProposalStatus, ProposalStatusSchema } from "../../wire/gen/sdk/gov/v1beta1/gov_pb.js";
import { Query as OldQuery } from "../../wire/gen/sdk/gov/v1beta1/query_pb.js";
import { TxSchema } from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { isObject, type JsonObject, type JsonValue, messageSigners, unpackAny, unpackAs } from "../../wire/index.ts";
import { type CliContext, createContext } from "../context.ts";
import { commandError, usageError } from "../errors.ts";
import { printResult } from "../output.ts";
import { pageRequest } from "../page.ts";
import { proposalId } from "../proposal-id.ts";
import type { CommandInput } from "../spec.ts";
import { addressArgument, addressFlag, ask } from "./ask.ts";

/** Queries that both generations of the module have, under one name and with the same fields in the request. */
type GovQuery = Exclude<keyof typeof OldQuery.method, "params">;

/** Asks the module as it is since release 0.46, and the older one where the chain has no other. */
async function askGov(context: CliContext, name: GovQuery, request: JsonObject): Promise<JsonValue> {
  return newerOrOlder(
    () => ask(context, NewQuery.method[name], request),
    () => ask(context, OldQuery.method[name], request),
  );
}

async function newerOrOlder<T>(newer: () => Promise<T>, older: () => Promise<T>): Promise<T> {
  try {
    return await newer();
  } catch (error) {
    if (isMissingQuery(error)) return older();
    throw error;
  }
}

async function print(input: CommandInput, name: GovQuery, request: JsonObject, field?: string): Promise<void> {
  const context = createContext(input);
  const answer = await askGov(context, name, request);
  printResult(field === undefined ? answer : fieldOf(answer, field), context.output, input.io);
}

function fieldOf(answer: JsonValue, field: string): JsonValue {
  return isObject(answer) ? (answer[field] ?? null) : answer;
}

function idOf({ args }: CommandInput): JsonObject {
  return { proposal_id: proposalId(args[0] ?? "").toString() };
}

/** `query gov proposal ID`. */
export function queryProposal(input: CommandInput): Promise<void> {
  return print(input, "proposal", idOf(input), "proposal");
}

/** `query gov proposals [--status S] [--voter A] [--depositor A]`. */
export function queryProposals(input: CommandInput): Promise<void> {
  const { flags } = input;
  return print(input, "proposals", {
    proposal_status: readStatus(flags.text("status")),
    voter: addressFlag(flags, "voter") ?? "",
    depositor: addressFlag(flags, "depositor") ?? "",
    pagination: pageRequest(flags),
  });
}

const STATUSES: readonly string[] = ["deposit-period", "voting-period", "passed", "rejected", "failed"];

/** A status in any of its spellings: `voting-period`, `voting_period`, `VotingPeriod`, `PROPOSAL_STATUS_VOTING_PERIOD`. */
function readStatus(text: string): number {
  const plain = (name: string): string =>
    name
      .toUpperCase()
      .replaceAll(/[-_]/g, "")
      .replace(/^PROPOSALSTATUS/, "");
  if (text === "") return ProposalStatus.UNSPECIFIED;
  const found = ProposalStatusSchema.values.find(({ number, name }) => number > 0 && plain(name) === plain(text));
  if (found !== undefined) return found.number;
  throw usageError(`--status takes ${STATUSES.join(", ")}, not "${text.slice(0, 64)}"`);
}

/** `query gov vote ID VOTER`. */
export function queryVote(input: CommandInput): Promise<void> {
  const voter = addressArgument(input.args[1] ?? "", "voter", input.flags);
  return print(input, "vote", { ...idOf(input), voter }, "vote");
}

/** `query gov votes ID`: while the vote lasts; they are gone when it was counted. */
export function queryVotes(input: CommandInput): Promise<void> {
  return print(input, "votes", { ...idOf(input), pagination: pageRequest(input.flags) });
}

/** `query gov deposit ID DEPOSITOR`. */
export function queryDeposit(input: CommandInput): Promise<void> {
  const depositor = addressArgument(input.args[1] ?? "", "depositor", input.flags);
  return print(input, "deposit", { ...idOf(input), depositor }, "deposit");
}

/** `query gov deposits ID`. */
export function queryDeposits(input: CommandInput): Promise<void> {
  return print(input, "deposits", { ...idOf(input), pagination: pageRequest(input.flags) });
}

/** `query gov tally ID`. */
export function queryTally(input: CommandInput): Promise<void> {
  return print(input, "tallyResult", idOf(input), "tally");
}

/** The words of `param`, with the part of the answer that each one names. */
const PARTS: ReadonlyMap<string, string> = new Map([
  ["voting", "voting_params"],
  ["deposit", "deposit_params"],
  ["tallying", "tally_params"],
]);

/** `query gov param TYPE`: a third of the parameters, as the older module tells them apart. */
export async function queryParam(input: CommandInput): Promise<void> {
  const [type = ""] = input.args;
  const part = PARTS.get(type);
  if (part === undefined) {
    throw usageError(`<type> is ${[...PARTS.keys()].join(", ")}, not "${type.slice(0, 64)}"`);
  }
  const context = createContext(input);
  printResult(fieldOf(await askParams(context, type), part), context.output, input.io);
}

/** `query gov params`: all parameters. */
export async function queryParams(input: CommandInput): Promise<void> {
  const context = createContext(input);
  printResult(await allParams(context), context.output, input.io);
}

/** Since release 0.47 they are one message; before they were three. */
async function allParams(context: CliContext): Promise<JsonValue> {
  const [first = "", ...others] = PARTS.keys();
  const answer = await askParams(context, first);
  const whole = fieldOf(answer, "params");
  if (isObject(whole)) return whole;
  const rest = await Promise.all(others.map((type) => askParams(context, type)));
  const answers = new Map([[first, answer], ...others.map((type, i) => [type, rest[i] ?? null] as const)]);
  return Object.fromEntries([...PARTS].map(([type, part]) => [part, fieldOf(answers.get(type) ?? null, part)]));
}

function askParams(context: CliContext, type: string): Promise<JsonValue> {
  const from = (method: DescMethod) => () => ask(context, method, { params_type: type });
  return newerOrOlder(from(NewQuery.method.params), from(OldQuery.method.params));
}

/** `query gov proposer ID`: who submitted it. Older chains do not keep it: then it is found in their transactions. */
export async function queryProposer(input: CommandInput): Promise<void> {
  const id = proposalId(input.args[0] ?? "").toString();
  const context = createContext(input);
  const proposal = fieldOf(await askGov(context, "proposal", { proposal_id: id }), "proposal");
  const known = fieldOf(proposal, "proposer");
  const proposer = typeof known === "string" && known !== "" ? known : await proposerOfTx(context, id);
  printResult({ proposal_id: id, proposer }, context.output, input.io);
}

async function proposerOfTx(context: CliContext, id: string): Promise<string> {
  const query = eventsQuery([`submit_proposal.proposal_id=${id}`]);
  const { txs } = await searchTxs(await context.chain(), query, { perPage: 1 });
  const body = unpackAs(TxSchema, txs[0]?.tx)?.body;
  const [proposer] = (body?.messages ?? []).flatMap((any) => {
    const { schema, value } = unpackAny(any);
    return schema.name === "MsgSubmitProposal" ? messageSigners(schema, value) : [];
  });
  if (proposer !== undefined) return proposer;
  throw commandError(`the node has no transaction that submitted proposal ${id}`, {
    hint: "ask a node that keeps older transactions",
  });
}
