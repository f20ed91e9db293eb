import { ensureClientCertificate, hasValidCertificate } from "../../../certs/index.ts";
import type { ChainClient, TxResponse } from "../../../client/index.ts";
import {
  checkManifestAgainstGroups,
  DEFAULT_TERMS,
  groupPrice,
  type LoadedSdl,
  loadSdlFile,
  requireOrderable,
  type SdlSource,
} from "../../../sdl/index.ts";
import { errorText, formatCoin, type IntCoin, isOneOf, parseCoin } from "../../../util/index.ts";
import type { Params } from "../../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { Query } from "../../../wire/gen/svc/deployment/v1beta1/query_pb.js";
import {
  MsgCreateDeploymentSchema,
  MsgUpdateDeploymentSchema,
} from "../../../wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { type Any, type DeploymentKey, deploymentErrors, packAny } from "../../../wire/index.ts";
import type { Flags } from "../../command/flags.ts";
import type { CommandInput } from "../../command/spec.ts";
import { createContext } from "../../context/context.ts";
import { commandError, usageError } from "../../errors.ts";
import { signerOf } from "../../keys/signer.ts";
import { addressFlag } from "../../query/ask.ts";
import { printWarnings } from "../../sdl/sdl.ts";
import { finishTx, openTx, runTx, type TxSession } from "../session/run.ts";

/** Further attempts if another transaction took the chosen number in the same block. */
const ATTEMPTS = 3;

/** `tx deployment create FILE`. */
export async function deploymentCreate(input: CommandInput): Promise<number> {
  const { flags, io } = input;
  const file = input.args[0] ?? "";
  const sdl = loadSdlFile(file);
  printWarnings(sdl.warnings, io);
  const given = flags.given("dseq") ? requireDseq(flags) : undefined;
  const deposit = readDeposit(flags);
  const session = await openTx(createContext(input));
  checkOwner(flags, session);
  const certificate = await certificateFirst(session);
  const amount = await requireTerms(session, { file, sdl, reread: (chain) => loadSdlFile(file, chain) }, deposit);
  const depositor = addressFlag(flags, "depositor") ?? "";
  const order = { sdl, amount, depositor, before: certificate === undefined ? [] : [certificate] };
  let dseq = given ?? (await nextDseq(session));
  for (let attempt = 1; ; attempt++) {
    io.err(`deployment sequence (dseq): ${dseq}\n`);
    let exists = false;
    const onAnswer = async (response: TxResponse): Promise<void> => {
      exists = isOneOf([deploymentErrors.exists, deploymentErrors.numberUsed], response);
    };
    const code = await finishTx(session, createMessages(session, order, dseq), { onAnswer });
    if (!exists || given !== undefined || attempt === ATTEMPTS) return code;
    dseq += 1n;
    io.err("the number is taken; trying the next one\n");
  }
}

interface Order {
  readonly sdl: LoadedSdl;
  readonly amount: IntCoin;
  /** bech32; who pays the deposit by a grant; empty for the owner. */
  readonly depositor: string;
  /** Messages that go first. */
  readonly before: readonly Any[];
}

function createMessages({ sender }: TxSession, { sdl, amount, depositor, before }: Order, dseq: bigint): Any[] {
  const create = packAny(MsgCreateDeploymentSchema, {
    id: { owner: sender.address, dseq },
    groups: [...sdl.groups],
    version: sdl.hash,
    deposit: wireCoin(amount),
    depositor,
  });
  return [...before, create];
}

/**
 * Without a client certificate a deployment could never receive its manifest: at a terminal the command offers to
 * create one in the same transaction, elsewhere it refuses and names the command that creates one.
 */
async function certificateFirst(session: TxSession): Promise<Any | undefined> {
  const { context, settings, sender } = session;
  if (settings.offline) return undefined;
  const chain = await session.chain();
  if (await hasValidCertificate(chain, sender.address)) return undefined;
  const from = sender.key?.name ?? sender.address;
  const problem = `account ${sender.address} has no valid certificate on the chain`;
  const refusal = commandError(problem, { hint: `make one first: svc tx cert create client --from ${from}` });
  if (sender.key === undefined || settings.purpose !== "send" || settings.yes || !context.io.isTTY) throw refusal;
  context.io.err(`${problem}\n`);
  if (!(await context.io.confirm("create a client certificate in the same transaction?"))) throw refusal;
  const say = (text: string) => context.io.err(`${text}\n`);
  return ensureClientCertificate({ chain, home: context.home, signer: await signerOf(context, sender), say });
}

/** A last number so far above the height was chosen by hand: the chain takes few such numbers of an owner. */
const FAR = 1000n;

/** The latest height, or one more than the last number used, if that is more and near. */
async function nextDseq(session: TxSession): Promise<bigint> {
  if (session.settings.offline) throw usageError("required flag --dseq is not set: --offline cannot query it");
  const { node, query } = await session.chain();
  const [{ latestHeight }, { numberBase }] = await Promise.all([node.status(), query.call(Query.method.params, {})]);
  const present = latestHeight + numberBase;
  const { deployments } = await query.call(Query.method.deployments, {
    filters: { owner: session.sender.address },
    pagination: { limit: 1n, reverse: true },
  });
  const last = deployments[0]?.deployment?.deploymentId?.dseq ?? 0n;
  return present > last || last - present > FAR ? present : last + 1n;
}

/**
 * Checks the file and the deposit against the chain's rules, to avoid fees for a refusal. Returns the deposit, by
 * default the chain's minimum.
 */
async function requireTerms(session: TxSession, source: SdlSource, deposit: IntCoin | undefined): Promise<IntCoin> {
  if (session.settings.offline) {
    if (deposit === undefined) throw usageError("required flag --deposit is not set: --offline cannot query it");
    requireOrderable(source, { ...DEFAULT_TERMS, denoms: [deposit.denom] });
    return deposit;
  }
  const { params } = await (await session.chain()).query.call(Query.method.params, {});
  if (params?.limits !== undefined) {
    requireOrderable(source, { limits: params.limits, denoms: params.minDeposits.map(({ denom }) => denom) });
  }
  const least = leastDeposit(source.sdl, params?.minDeposits ?? []);
  if (deposit === undefined) return least;
  if (deposit.denom !== least.denom)
    throw usageError(`--deposit is in ${deposit.denom}, the file's prices in ${least.denom}: use one denomination`);
  if (deposit.amount < least.amount)
    throw usageError(
      `--deposit ${formatCoin(deposit)} is less than the chain's minimum: write at least ${formatCoin(least)}`,
    );
  return deposit;
}

/** The chain's minimum deposit in the denomination of the file's prices. */
function leastDeposit({ groups }: LoadedSdl, minDeposits: Params["minDeposits"]): IntCoin {
  const [group] = groups;
  const denom = group === undefined ? undefined : groupPrice(group).denom;
  const coin = minDeposits.find((each) => each.denom === denom);
  if (coin !== undefined) return parseCoin(formatCoin(coin));
  const known = minDeposits.map((each) => each.denom).join(", ");
  throw commandError(`the chain accepts no deposits in ${denom ?? "this denomination"}`, {
    hint: `use prices in ${known}`,
  });
}

/** `tx deployment update FILE --dseq N`: a new manifest for the same groups. */
export async function deploymentUpdate(input: CommandInput): Promise<number> {
  const sdl = loadSdlFile(input.args[0] ?? "");
  printWarnings(sdl.warnings, input.io);
  const dseq = requireDseq(input.flags);
  return runTx(input, async (session) => {
    checkOwner(input.flags, session);
    const id = { owner: session.sender.address, dseq };
    if (!session.settings.offline) await checkGroups(await session.chain(), id, sdl);
    return [packAny(MsgUpdateDeploymentSchema, { id, version: sdl.hash })];
  });
}

/** Groups stay as they were ordered and paid for; providers would refuse a manifest that does not fit them. */
async function checkGroups({ query }: ChainClient, id: DeploymentKey, sdl: LoadedSdl): Promise<void> {
  const { groups } = await query.call(Query.method.deployment, { id });
  const specs = groups.flatMap(({ groupSpec }) => (groupSpec === undefined ? [] : [groupSpec]));
  try {
    checkManifestAgainstGroups(sdl.manifest, specs);
  } catch (cause) {
    const hint = "resources cannot change: close the deployment and create a new one, or keep the file's resources";
    throw commandError(`the file does not fit deployment ${id.dseq}: ${errorText(cause)}`, { hint, cause });
  }
}

function wireCoin({ denom, amount }: IntCoin) {
  return { denom, amount: amount.toString() };
}

function readDeposit(flags: Flags): IntCoin | undefined {
  const text = flags.optional("deposit");
  return text === undefined ? undefined : readAmount(text, "--deposit");
}

function readAmount(text: string, name: string): IntCoin {
  try {
    const coin = parseCoin(text);
    if (coin.amount > 0n) return coin;
  } catch (error) {
    throw usageError(`${name}: ${errorText(error)}`);
  }
  throw usageError(`${name}: write an amount above zero, for example 5000000utoken`);
}

const MAX_DSEQ = (1n << 64n) - 1n;

function requireDseq(flags: Flags): bigint {
  flags.need("dseq");
  const dseq = flags.uint("dseq");
  if (dseq > 0n && dseq <= MAX_DSEQ) return dseq;
  throw usageError(`--dseq takes a whole number from 1 to ${MAX_DSEQ}, not "${flags.text("dseq").slice(0, 64)}"`);
}

/** `--owner` exists for scripts that always pass it; the signer is the owner. */
function checkOwner(flags: Flags, { sender }: TxSession): void {
  const owner = addressFlag(flags, "owner");
  if (owner === undefined || owner === sender.address) return;
  throw usageError(`the owner ${owner} must sign, not ${sender.address}`, "give --from the key of the owner");
}
