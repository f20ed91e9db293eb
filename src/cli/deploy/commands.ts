import type { BidRecord } from "../../client/index.ts";
import {
  addressLines,
  type CloseResult,
  closeAndSettle,
  type DeploymentLine,
  type DeployParts,
  type DeployReporter,
  type DeployRequest,
  type DeployResult,
  deployErrors,
  listDeployments,
  type Offer,
  pickDeployment,
  type Questions,
  runDeploy,
  runUpdate,
  serviceLeases,
  unlessInterrupted,
} from "../../tenant/index.ts";
import { deployRequest, FileJournal } from "../../tenant/node/index.ts";
import { EXIT, formatCoin, formatDecCoin, type IntCoin, printable, shellWord, textTable } from "../../util/index.ts";
import type { CommandInput } from "../command/spec.ts";
import { admitUnproven } from "../context/context.ts";
import { ExitError } from "../errors.ts";
import { printWarnings } from "../sdl/sdl.ts";
import type { Io } from "../terminal/io.ts";
import { printAs } from "../terminal/output.ts";
import { is, runToEnd } from "./ending.ts";
import { readDseq, readRequest, readTimeout } from "./policy.ts";
import { asTenant, marketTx, sendSettings, type Tenant } from "./tenant.ts";

/** `svc deploy restart SERVICE`: in every lease of the deployment that has the service. */
export function restartCommand(input: CommandInput): Promise<void> {
  const { args, flags } = input;
  const [service = ""] = args;
  const dseq = readDseq(flags);
  const { signal } = new AbortController();
  return asTenant(input, { tx: {}, signal }, async (tenant) => {
    for (const { lease, provider } of await serviceLeases(tenant.parts, dseq, service)) {
      const gateway = await tenant.gateway(provider);
      await gateway.restart(lease.id, service);
    }
    printAs(input, { service, restarting: true }, `${service} is restarting; follow it with: svc deploy ps\n`);
  });
}

/** `svc deploy FILE`. */
export async function deployCommand(input: CommandInput): Promise<number> {
  const { args, flags, io } = input;
  if (flags.bool("estimate")) return (await import("./estimate.ts")).estimateCommand(input);
  const isAsked = io.isTTY && !sendSettings(input).yes;
  const options = { file: args[0] ?? "", ...readRequest(flags, isAsked), ...questionsOf(input) };
  return runFile(input, (signal) => deployRequest(options, signal), runDeploy);
}

/** `svc deploy update FILE`. */
export function updateCommand(input: CommandInput): Promise<number> {
  const { args, flags } = input;
  sendSettings(input, "update");
  const dseq = readDseq(flags);
  const options = { file: args[0] ?? "", timeoutMs: readTimeout(flags), ...questionsOf(input) };
  const target = dseq === undefined ? {} : { dseq };
  return runFile(input, (signal) => ({ ...deployRequest(options, signal), ...target }), runUpdate);
}

function questionsOf(input: CommandInput): { readonly questions?: Questions } {
  return sendSettings(input).yes ? {} : { questions: terminalQuestions(input.io) };
}

type Runner<R> = (parts: DeployParts, request: R, reporter: DeployReporter) => Promise<DeployResult>;

/** Runs the workflow from a file to running services, reports its progress and prints where the services are. */
function runFile<R extends DeployRequest>(
  input: CommandInput,
  makeRequest: (signal: AbortSignal) => R,
  run: Runner<R>,
): Promise<number> {
  const { io } = input;
  return runToEnd(input, async (signal) => {
    const request = makeRequest(signal);
    printWarnings(request.sdl.warnings, io);
    await asTenant(input, { tx: marketTx(input), signal }, async (tenant) => {
      const reporter = terminalReporter((text) => io.err(text));
      try {
        printDeployed(input, await run(tenant.parts, request, reporter));
        const height = tenant.verifiedAt();
        if (height !== undefined) io.err(`lease, escrow and certificate verified at height ${height}\n`);
      } catch (error) {
        // An update tells its own changes so far.
        throw is(error, "interrupted") && error.hint === undefined ? whatStays(tenant, request) : error;
      } finally {
        reporter.stop();
      }
    });
  });
}

function printDeployed({ flags, io }: CommandInput, result: DeployResult): void {
  if (flags.text("output") === "json") {
    io.out(`${printable(JSON.stringify(result))}\n`);
    return;
  }
  const total = result.steps.reduce((sum, { ms }) => sum + ms, 0);
  io.err(`deployment ${result.dseq} is running after ${(total / 1000).toFixed(1)} s\n`);
  io.out(printable(addressLines(result)));
}

/** An interruption, with the user's next step. */
function whatStays({ home, parts }: Tenant, { file }: DeployRequest): Error {
  const { owner, chainId } = parts.market;
  const entries = new FileJournal(home).entries(owner, chainId).filter((entry) => entry.file === file);
  const dseq = entries.at(-1)?.dseq;
  if (dseq === undefined) return deployErrors.interrupted("nothing was sent");
  const hint = `svc deploy ${shellWord(file)} continues it, svc deploy close --dseq ${dseq} ends it and returns its money`;
  return deployErrors.interrupted(`deployment ${dseq} stays as it is`, { hint });
}

/** `svc deploy close`. */
export function closeCommand(input: CommandInput): Promise<number> {
  const { flags, io } = input;
  const { yes } = sendSettings(input, "close");
  const dseq = readDseq(flags, input.args[0]);
  return runToEnd(input, (signal) =>
    asTenant(input, { tx: marketTx(input), signal }, async ({ parts }) => {
      const deployment = await pickDeployment(parts, dseq);
      const names = deployment.groups.map(({ spec }) => spec.name).join(", ");
      const question = `close deployment ${deployment.dseq} (${names}) and remove its containers and volumes`;
      if (!yes && !(await unlessInterrupted(() => io.confirm(question), signal))) throw deployErrors.cancelled();
      const result = await unlessInterrupted(() => closeAndSettle(parts, deployment), signal);
      io.out(flags.text("output") === "json" ? `${JSON.stringify(closeJson(result))}\n` : closeText(result));
    }),
  );
}

/** `svc deploy ps`. */
export function psCommand(input: CommandInput): Promise<number> {
  const { flags, io } = input;
  return runToEnd(input, (signal) =>
    asTenant(input, { tx: {}, signal }, async ({ parts }) => {
      await admitUnproven(flags, io, "lists of deployments");
      const lines = await unlessInterrupted(() => listDeployments({ ...parts, now: Date.now }), signal);
      if (flags.text("output") === "json") {
        io.out(`${printable(JSON.stringify({ deployments: lines }))}\n`);
        return;
      }
      for (const { dseq, problems, next } of lines) {
        for (const each of [...problems, ...(next === "" ? [] : [next])])
          io.err(`deployment ${dseq}: ${printable(each)}\n`);
      }
      if (lines.length === 0) io.err("no active deployment; make one: svc deploy FILE\n");
      else io.out(psTable(lines));
    }),
  );
}

export function closeText({ dseq, height, paid, returned }: CloseResult): string {
  const payments = paid.map(({ provider, amount }) => `paid      ${formatCoin(amount)} to ${provider}\n`);
  return `closed    deployment ${dseq} in block ${height}\n${payments.join("")}returned  ${formatCoin(returned)}\n`;
}

/** The JSON form: amounts are texts. */
export function closeJson(result: CloseResult): object {
  const coin = ({ denom, amount }: IntCoin) => ({ denom, amount: amount.toString() });
  const paid = result.paid.map(({ provider, amount }) => ({ provider, amount: coin(amount) }));
  return { ...result, paid, returned: coin(result.returned) };
}

const HEADINGS = ["DSEQ", "STATE", "SERVICES", "PER BLOCK", "PER MONTH", "BALANCE", "UNTIL", "ADDRESSES"] as const;

export function psTable(lines: readonly DeploymentLine[]): string {
  return textTable([HEADINGS, ...lines.map((line) => psRow(line).map(printable))]);
}

function psRow(line: DeploymentLine): string[] {
  const services = line.services.map(({ name, available, total }) => `${name} ${available}/${total}`);
  return [
    line.dseq,
    line.state,
    services.join(" ") || "-",
    line.price.amount === "" ? "-" : line.price.amount + line.price.denom,
    line.price_per_month || "-",
    formatCoin(line.balance),
    line.until || "-",
    [...line.uris, ...line.ports].join(" ") || "-",
  ];
}

const MAX_TRIES = 3;

/** Questions on the terminal. */
export function terminalQuestions(io: Io): Questions {
  return {
    confirm: (text) => io.confirm(text),
    choose: (group, offers) => choose(io, group, offers),
  };
}

async function choose(io: Io, group: string, offers: readonly Offer[]): Promise<BidRecord> {
  const [best] = offers;
  if (best === undefined) throw deployErrors.noBids(`group ${group}`);
  const names = offers.map(({ bid }) => `${formatDecCoin(bid.price)} from ${bid.id.provider}`);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const answer = (
      await io.ask(`Bid for ${group}: 1 to ${offers.length}, Enter for 1 (${names[0]}), q to stop`)
    ).trim();
    if (answer.toLowerCase() === "q") throw deployErrors.interrupted();
    const taken = answer === "" ? best : offers[Number(/^\d{1,3}$/.test(answer) ? answer : Number.NaN) - 1];
    if (taken !== undefined) return taken.bid;
    io.err(`"${answer.slice(0, 20)}" is not a number from 1 to ${offers.length}\n`);
  }
  throw new ExitError(EXIT.usage);
}

/** After this much silence the terminal names the awaited event, each time later for the same one. */
const SILENCE_MS = 8_000;
const MAX_SILENCE_MS = 120_000;
const TICK_MS = 500;
const NAME_WIDTH = 12;

export interface TerminalReporter extends DeployReporter {
  /** Prints the sentences alone. */
  waiting(text: string): void;
  note(text: string): void;
  /** Ends the reminders. */
  stop(): void;
}

/** Lines on standard error: one for each step with the time since the start, and a reminder in every long silence. */
export function terminalReporter(
  write: (text: string) => void,
  now: () => number = () => performance.now(),
): TerminalReporter {
  const start = now();
  let spoke = start;
  let awaited = "";
  let patience = SILENCE_MS;
  const line = (text: string, at = now() - start): void => {
    spoke = now();
    write(`[${seconds(at)}] ${printable(text)}\n`);
  };
  const timer = setInterval(() => {
    if (awaited === "" || now() - spoke < patience) return;
    line(`still waiting for ${awaited}`);
    patience = Math.min(patience * 2, MAX_SILENCE_MS);
  }, TICK_MS);
  timer.unref();
  return {
    step({ name, at }, text) {
      awaited = "";
      patience = SILENCE_MS;
      line(`${name.padEnd(NAME_WIDTH)} ${text}`, at);
    },
    waiting(text) {
      awaited = text;
    },
    note(text) {
      spoke = now();
      write(`${printable(text.replace(/\n$/, ""))}\n`);
    },
    stop: () => clearInterval(timer),
  };
}

/** ` 12.3s`, wide enough for the first quarter of an hour. */
function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1).padStart(5)}s`;
}
