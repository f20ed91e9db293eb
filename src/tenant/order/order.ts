import type { DeploymentRecord, DepositTerms } from "../../client/index.ts";
import { groupPrice, requireOrderable } from "../../sdl/index.ts";
import {
  type DecimalCoin,
  decCeil,
  equalBytes,
  formatCoin,
  formatCoins,
  formatDecCoin,
  type IntCoin,
  isOneOf,
  NATIVE_DENOM,
  SvcError,
  sumCoins,
} from "../../util/index.ts";
import { type Any, certErrors, deploymentErrors } from "../../wire/index.ts";
import { closeDeployment, createDeployment } from "../chain/messages.ts";
import { checkInterrupted, unlessInterrupted } from "../session/clock.ts";
import { deployErrors } from "../session/errors.ts";
import type { JournalEntry } from "../session/journal.ts";
import type { DeployRequest, Session } from "../session/session.ts";
import { leastDeposit, totalPrice } from "./deposit.ts";
import { type Begun, findResumption, type Resumption } from "./resume.ts";

/** A deployment that is on the chain. */
export interface Placed {
  readonly entry: JournalEntry;
  readonly deployment: DeploymentRecord;
}

const MAX_NUMBERS = 50;
const MAX_COLLISIONS = 5;

/** Puts the file's deployment on the chain if needed. Rejects with `deployErrors.cancelled` if the user declines. */
export async function ensureOrder(session: Session): Promise<Placed> {
  const resumption = await findResumption(session);
  const { begun } = resumption;
  if (begun !== undefined) tellResumption(session, begun);
  if (begun?.deployment !== undefined) {
    await ensureCertificate(session);
    return { entry: begun.entry, deployment: begun.deployment };
  }
  return placeOrder(session, resumption);
}

function tellResumption({ progress, request }: Session, { entry }: Begun): void {
  const what = entry.step === "done" ? "exists already" : "was started before and is continued";
  const text = `deployment ${entry.dseq} of ${request.file} ${what} (--new makes another one)`;
  progress.note(text, { kind: "continued", dseq: entry.dseq });
}

/** A lost certificate is published again; the deployment itself needs nothing. */
async function ensureCertificate({ publishCertificate, market, progress }: Session): Promise<void> {
  const message = await publishCertificate();
  if (message !== undefined) await market.send([message]).catch(ifNotPublished);
  progress.done("certificate", message === undefined ? "valid on the chain" : "created and published");
}

/** Another command of the tenant may have published the certificate meanwhile. */
function ifNotPublished(error: unknown): void {
  if (!isOneOf([certErrors.exists], error)) throw error;
}

async function placeOrder(session: Session, { begun, superseded }: Resumption): Promise<Placed> {
  const { publishCertificate, progress, market, request } = session;
  const deposit = await depositFor(session);
  await confirm(session, deposit, superseded);
  const certificate = await publishCertificate();
  progress.done("certificate", certificate === undefined ? "valid on the chain" : "created, published with the order");
  const old = superseded === undefined ? [] : [closeDeployment({ owner: market.owner, dseq: superseded })];
  const again = begun === undefined ? {} : { again: begun.entry };
  const placed = await sendOrder(session, { first: old, certificate, deposit, ...again });
  if (superseded !== undefined) forget(session, superseded);
  const price = request.sdl.groups.map((group) => formatDecCoin(groupPrice(group))).join(" + ");
  const { dseq, createdAt } = placed.deployment;
  const what = `deployment ${dseq} in block ${createdAt}`;
  progress.done("order", `${what}: deposit ${formatCoin(deposit)}, at most ${price} per block`);
  return placed;
}

function forget({ journal, progress }: Session, dseq: bigint): void {
  journal.remove(dseq);
  progress.note(`deployment ${dseq}, made from an earlier version of the file, is closed and its deposit returned`);
}

async function confirm(
  { request, market, progress }: Session,
  deposit: IntCoin,
  superseded: bigint | undefined,
): Promise<void> {
  const ask = request.questions?.confirm;
  if (ask === undefined) return;
  progress.waiting("", { for: "user" });
  const old = superseded === undefined ? "" : ` after closing deployment ${superseded} of an earlier version`;
  const text = `create a deployment of ${request.file}${old}, with a deposit of ${formatCoin(deposit)} from ${market.owner}`;
  if (!(await unlessInterrupted(() => ask(text), request.signal))) throw deployErrors.cancelled("nothing was sent");
}

interface OrderPlan {
  /** Messages that go before the creation. */
  readonly first: readonly Any[];
  /** Publishes the tenant's certificate, unless another command does it first. */
  readonly certificate: Any | undefined;
  readonly deposit: IntCoin;
  /** Entry of an earlier run whose transaction did not arrive. */
  readonly again?: JournalEntry;
}

/**
 * Sends the creation under a number that is recorded first. The chain accepts a number only once, so a repetition after
 * an interruption cannot make a second deployment.
 */
async function sendOrder(session: Session, plan: OrderPlan): Promise<Placed> {
  const { market, journal, request, progress } = session;
  let { again, certificate } = plan;
  for (let collisions = 0; ; collisions++) {
    const entry = again ?? (await newEntry(session));
    const id = { owner: market.owner, dseq: entry.dseq };
    const { groups, hash } = request.sdl;
    progress.waiting(`the block with the order of deployment ${entry.dseq}`, { for: "order" });
    try {
      const order = createDeployment({ id, groups, version: hash, deposit: plan.deposit });
      const first = certificate === undefined ? plan.first : [...plan.first, certificate];
      await unlessInterrupted(() => market.send([...first, order]), request.signal);
    } catch (error) {
      if (!isChainRefusal(error)) throw error;
      if (certificate !== undefined && isOneOf([certErrors.exists], error)) {
        certificate = undefined;
        again = entry;
        continue;
      }
      const isTaken = isOneOf([deploymentErrors.exists, deploymentErrors.numberUsed], error);
      const isArrived = isTaken && again !== undefined && (await isOurs(session, entry));
      // A message sent before an interruption may still arrive: its record stays.
      if (!isArrived && (isTaken || again === undefined)) journal.remove(entry.dseq);
      if (!isTaken || collisions >= MAX_COLLISIONS) throw error;
      if (!isArrived) {
        again = undefined;
        continue;
      }
    }
    const placed = { ...entry, step: "bid" as const };
    journal.save(placed);
    return { entry: placed, deployment: await needDeployment(session, entry.dseq) };
  }
}

/** Whether the chain itself refused, as opposed to a failed connection: nothing was changed. */
export function isChainRefusal(error: unknown): error is SvcError {
  return error instanceof SvcError && error.codespace !== "client" && error.codespace !== "deploy";
}

async function isOurs({ market, request }: Session, { dseq }: JournalEntry): Promise<boolean> {
  const found = await market.deployment(dseq);
  return found !== undefined && found.state === "active" && equalBytes(found.version, request.sdl.hash);
}

async function needDeployment({ market }: Session, dseq: bigint): Promise<DeploymentRecord> {
  const deployment = await market.deployment(dseq);
  if (deployment === undefined) throw deployErrors.noDeployment(`the node does not show deployment ${dseq}`);
  return deployment;
}

/** Takes the height of the chain as the number, or the next one that is free on the chain and in the journal. */
async function newEntry({ market, journal, request, fingerprint }: Session): Promise<JournalEntry> {
  const { owner, chainId } = market;
  const { file } = request;
  const [height, { numberBase }] = await Promise.all([market.height(), market.terms()]);
  const first = height + numberBase;
  for (let dseq = first; dseq < first + BigInt(MAX_NUMBERS); dseq++) {
    if ((await market.deployment(dseq)) !== undefined) continue;
    // Nothing is awaited between here and sending the order: no record is made for an order that is not sent.
    checkInterrupted(request.signal);
    const entry: JournalEntry = { dseq, owner, chainId, file, fingerprint, step: "order", chosen: [] };
    if (journal.create(entry)) return entry;
  }
  const hint = "wait for the next block, or remove old records from the home's folder deployments";
  throw deployErrors.noDeployment(`all numbers from ${first} on are taken`, { hint });
}

/**
 * The deposit asked for, else the least that the chain accepts and that lets the leases start at the highest price. Rejects
 * with `deployErrors.funds` if the account does not have that and the fees.
 */
async function depositFor({ market, request }: Session): Promise<IntCoin> {
  const terms = await market.terms();
  requireOrderable(request, { limits: terms.limits, denoms: terms.minDeposits.map(({ denom }) => denom) });
  const price = totalPrice(request.sdl.groups.map(groupPrice));
  const least = leastDeposit(price, terms);
  checkDenoms(request, least.denom);
  const deposit = request.deposit ?? least;
  if (deposit.amount < least.amount) throw tooSmall(deposit, least, { price, terms });
  const fees = sumCoins(market.fee(1), market.fee(request.sdl.groups.length));
  for (const { denom, amount } of sumCoins([deposit], fees)) {
    const balance = await market.balance(denom);
    if (balance < amount) throw tooPoor(market.owner, { balance: { denom, amount: balance }, deposit, fees });
  }
  return deposit;
}

/** The chain would refuse the deployment or, once the order is paid for, every lease at the highest price. */
function tooSmall(
  deposit: IntCoin,
  least: IntCoin,
  { price, terms: { startBlocks } }: { readonly price: DecimalCoin; readonly terms: DepositTerms },
): Error {
  const isMinimum = decCeil(price.amount * startBlocks) < least.amount;
  const why = isMinimum
    ? "the chain accepts no less for a deployment"
    : `a lease needs funds for ${startBlocks} blocks at its start, at most ${formatDecCoin(price)} each`;
  const lower = isMinimum ? "" : ", or lower the amounts under pricing in the file";
  return deployErrors.deposit(`--deposit ${formatCoin(deposit)} is less than ${formatCoin(least)}: ${why}`, {
    hint: `write --deposit ${formatCoin(least)} or leave it out${lower}`,
  });
}

function checkDenoms({ deposit, policy: { maxPrice } }: DeployRequest, denom: string): void {
  const given = { "--deposit": deposit?.denom, "--max-price": maxPrice?.denom };
  for (const [flag, other] of Object.entries(given)) {
    if (other === undefined || other === denom) continue;
    const hint = `write it in ${denom}${denom === NATIVE_DENOM ? ": 5 TOKEN are 5000000utoken" : ""}`;
    throw deployErrors.denom(`${flag} is in ${other}, the deployment is paid in ${denom}`, { hint });
  }
}

interface Means {
  readonly balance: IntCoin;
  readonly deposit: IntCoin;
  /** Fees of the transactions with the order and with the leases. */
  readonly fees: readonly IntCoin[];
}

function tooPoor(owner: string, { balance, deposit, fees }: Means): Error {
  const dues = fees.length === 0 ? "" : ` and the fees of order and lease are ${formatCoins(fees)}`;
  const text = `${owner} has ${formatCoin(balance)}, the deposit is ${formatCoin(deposit)}${dues}`;
  return deployErrors.funds(text, { hint: `send coins to ${owner} first, on a localnet: svc faucet ${owner}` });
}
