import { GatewayClient, publishedCertificates } from "../../../client/index.ts";
import { EXIT } from "../../../util/index.ts";
import { type JsonValue, readJson } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { type CliContext, createContext } from "../../context/context.ts";
import { addressArgument } from "../../query/ask.ts";
import { printResult } from "../../terminal/output.ts";
import { findProvider, openLease, withSession } from "./session.ts";

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
