import { GatewayRefusal } from "../../../client/index.ts";
import { type LoadedSdl, loadSdlFile } from "../../../sdl/index.ts";
import { EXIT, errorText, printable, SvcError, textTable } from "../../../util/index.ts";
import type { LeaseKey } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { printWarnings } from "../../sdl/sdl.ts";
import { activeLeases, openTenant, type TenantSession, withSession } from "./session.ts";

/** The result of sending the manifest to one provider; field names are those of the ecosystem. */
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
    print(outcomes, session);
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

function print(outcomes: readonly Outcome[], { context: { io, output } }: TenantSession): void {
  const rows = outcomes.map(({ provider, status, errorMessage }) => [provider, status, errorMessage]);
  const table = textTable([["PROVIDER", "STATUS", "ERROR"], ...rows]);
  io.out(printable(output === "json" ? `${JSON.stringify(outcomes)}\n` : table));
}
