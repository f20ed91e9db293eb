import { GatewayClient, GatewayRefusal, publishedCertificates } from "../../../client/index.ts";
import { type LoadedSdl, loadSdlFile } from "../../../sdl/index.ts";
import { EXIT, errorText, printable, SvcError, textTable } from "../../../util/index.ts";
import { type JsonValue, type LeaseKey, readJson } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { type CliContext, createContext } from "../../context/context.ts";
import { usageError } from "../../errors.ts";
import { addressArgument } from "../../query/ask.ts";
import { printWarnings } from "../../sdl/sdl.ts";
import { printAs, printResult } from "../../terminal/output.ts";
import { activeLeases, findProvider, openLease, openTenant, type TenantSession, withSession } from "./session.ts";

/** `provider lease-status`. */
export async function leaseStatus(input: CommandInput): Promise<void> {
  const { session, lease, gateway } = await openLease(input);
  await withSession(session.chain, async () => print(await gateway.leaseStatus(lease), session.context));
}

/** `provider service-status`. */
export async function serviceStatus(input: CommandInput): Promise<void> {
  const service = input.flags.need("service");
  const { session, lease, gateway } = await openLease(input);
  await withSession(session.chain, async () => print(await gateway.serviceStatus(lease, service), session.context));
}

/** `provider get-manifest`. */
export async function getManifest(input: CommandInput): Promise<void> {
  const { session, lease, gateway } = await openLease(input);
  await withSession(session.chain, async () => print(await gateway.getManifest(lease), session.context));
}

/** `provider status ADDRESS`: needs no key. */
export async function providerStatus(input: CommandInput): Promise<number> {
  const owner = addressArgument(input.args[0] ?? "", "address", input.flags);
  const context = createContext(input);
  const chain = await context.chain();
  return withSession(chain, async () => {
    const { address, hostUri } = await findProvider(chain, owner);
    const target = { provider: address, hostUri, certificateOf: publishedCertificates(chain.query) };
    const answer = await new GatewayClient(target).status();
    if (input.flags.bool("watch")) return (await import("./watch.ts")).watch(input, target, answer);
    print(answer, context);
    return EXIT.done;
  });
}

function print(answer: unknown, { output, io }: CliContext): void {
  printResult(plain(answer), output, io);
}

/** A parsed answer as a JSON value. */
function plain(answer: unknown): JsonValue {
  return readJson(JSON.stringify(answer) ?? "null");
}

/** `provider lease-restart`. */
export async function leaseRestart(input: CommandInput): Promise<void> {
  const service = input.flags.need("service");
  const { session, lease, gateway } = await openLease(input);
  await withSession(session.chain, () => gateway.restart(lease, service));
  printAs(input, { service, restarting: true }, `${service} is restarting\n`);
}

/** `provider migrate-endpoints`: the lease is the destination. */
export async function migrateEndpoints(input: CommandInput): Promise<void> {
  const { args, io } = input;
  if (args.length === 0) throw usageError("name the leased addresses to migrate to this deployment");
  const { session, lease, gateway } = await openLease(input);
  const transferred = await withSession(session.chain, () => gateway.migrateEndpoints(lease, args));
  if (session.context.output === "json") return io.out(`${printable(JSON.stringify({ transferred }))}\n`);
  io.out(
    transferred.map((name) => `leased address ${printable(name)} now belongs to deployment ${lease.dseq}\n`).join(""),
  );
}

/** `provider migrate-hostnames`: the lease is the destination. */
export async function migrateHostnames(input: CommandInput): Promise<void> {
  const { args, io } = input;
  if (args.length === 0) throw usageError("name the host names to migrate to this deployment");
  const { session, lease, gateway } = await openLease(input);
  const transferred = await withSession(session.chain, () => gateway.migrateHosts(lease, args));
  if (session.context.output === "json") return io.out(`${printable(JSON.stringify({ transferred }))}\n`);
  io.out(transferred.map((host) => `${printable(host)} now belongs to deployment ${lease.dseq}\n`).join(""));
}

/** The result of sending the manifest to one provider; field names equal the ecosystem's. */
interface Outcome {
  readonly provider: string;
  readonly status: "PASS" | "FAIL";
  /** Machine-readable reason of a failure. */
  readonly error: string;
  readonly errorMessage: string;
}

/** `provider send-manifest FILE`: exit code 1 if one of the providers refused it. */
export async function sendManifest(input: CommandInput): Promise<number> {
  const { manifest, warnings } = loadSdlFile(input.args[0] ?? "");
  printWarnings(warnings, input.io);
  const session = await openTenant(input);
  return withSession(session.chain, async () => {
    const leases = await activeLeases(session);
    const outcomes: Outcome[] = [];
    for (const [provider, lease] of new Map(leases.map((each) => [each.provider, each]))) {
      outcomes.push(await sendTo(session, provider, () => send(session, lease, manifest)));
    }
    printOutcomes(outcomes, session);
    return outcomes.every(({ status }) => status === "PASS") ? EXIT.done : EXIT.failed;
  });
}

async function send(
  session: TenantSession,
  { provider, dseq }: LeaseKey,
  manifest: LoadedSdl["manifest"],
): Promise<void> {
  await (await session.gateway(provider)).sendManifest(dseq, manifest);
}

async function sendTo(session: TenantSession, provider: string, run: () => Promise<void>): Promise<Outcome> {
  try {
    await run();
    return { provider, status: "PASS", error: "", errorMessage: "" };
  } catch (cause) {
    const hint = cause instanceof SvcError ? cause.hint : undefined;
    if (hint !== undefined) session.context.io.err(`Hint: ${printable(hint)}\n`);
    const error = cause instanceof GatewayRefusal ? cause.reason : "not_sent";
    return { provider, status: "FAIL", error, errorMessage: errorText(cause) };
  }
}

function printOutcomes(outcomes: readonly Outcome[], { context: { io, output } }: TenantSession): void {
  const rows = outcomes.map(({ provider, status, errorMessage }) => [provider, status, errorMessage]);
  const table = textTable([["PROVIDER", "STATUS", "ERROR"], ...rows]);
  io.out(printable(output === "json" ? `${JSON.stringify(outcomes)}\n` : table));
}
