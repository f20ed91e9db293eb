import type { DescMethod } from "@bufbuild/protobuf";
import { eventsQuery, searchTxs } from "../../../client/index.ts";
import { Query as NewQuery } from "../../../wire/gen/sdk/gov/v1/query_pb.js";
import { Query as OldQuery } from "../../../wire/gen/sdk/gov/v1beta1/query_pb.js";
import { TxSchema } from "../../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { isObject, type JsonValue, messageSigners, unpackAny, unpackAs } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { type CliContext, createContext } from "../../context/context.ts";
import { commandError, usageError } from "../../errors.ts";
import { printResult } from "../../terminal/output.ts";
import { proposalId } from "../../values/proposal-id.ts";
import { ask } from "../ask.ts";
import { newerOrOlder } from "../older.ts";

function fieldOf(answer: JsonValue, field: string): JsonValue {
  return isObject(answer) ? (answer[field] ?? null) : answer;
}

/** The words of `param`, with the part of the answer that each one names. */
const PARTS: ReadonlyMap<string, string> = new Map([
  ["voting", "voting_params"],
  ["deposit", "deposit_params"],
  ["tallying", "tally_params"],
]);

/** `query gov param TYPE`: one of the three parts of the parameters, as the older module has them. */
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

/** Since release 0.47 they are one message; before that they were three. */
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
  const from = (method: DescMethod) => () => ask(context, method, { proposal_id: id });
  const answer = await newerOrOlder(from(NewQuery.method.proposal), from(OldQuery.method.proposal));
  const proposal = fieldOf(answer, "proposal");
  const known = fieldOf(proposal, "proposer");
  const proposer = typeof known === "string" && known !== "" ? known : await proposerOfTx(context, id);
  printResult({ proposal_id: id, proposer }, context.output, input.io);
}

async function proposerOfTx(context: CliContext, id: string): Promise<string> {
  const query = eventsQuery([`submit_proposal.proposal_id=${id}`]);
  const { txs } = await searchTxs(await context.unproven("transactions"), query, { perPage: 1 });
  const body = unpackAs(TxSchema, txs[0]?.tx)?.body;
  const [proposer] = (body?.messages ?? []).flatMap((any) => {
    const { schema, value } = unpackAny(any);
    return schema.name === "MsgSubmitProposal" ? messageSigners(schema, value) : [];
  });
  if (proposer !== undefined) return proposer;
  throw commandError(`the node has no transaction that submitted proposal ${id}`, {
    hint: "query a node that keeps older transactions",
  });
}
