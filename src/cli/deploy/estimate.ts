import { blockSeconds, GatewayClient, marketReader } from "../../client/index.ts";
import { formatPrice, loadSdlFile, priceOverTime } from "../../sdl/index.ts";
import { certifiedBy, estimate, type GroupEstimate } from "../../tenant/index.ts";
import { formatDecShort, printable, textTable } from "../../util/index.ts";
import type { CommandInput } from "../command/spec.ts";
import { createContext } from "../context/context.ts";
import { printWarnings } from "../sdl/sdl.ts";

const GATEWAY_MS = 10_000;
const HEADINGS = ["GROUP", "PROVIDER", "HOST", "PER BLOCK", "PER HOUR", "PER MONTH", "NO BID BECAUSE"] as const;

/** `svc deploy FILE --estimate`: the price or the refusal of every provider. Needs no key, and sends nothing. */
export async function estimateCommand(input: CommandInput): Promise<number> {
  const {
    args: [file = ""],
    flags,
    io,
  } = input;
  const { groups, warnings } = loadSdlFile(file);
  printWarnings(warnings, io);
  const chain = await createContext(input).chain();
  try {
    const [providers, seconds] = await Promise.all([marketReader(chain.query).providers(), blockSeconds(chain)]);
    const target = certifiedBy(chain.query);
    const answers = await estimate(groups, {
      providers,
      gateway: (provider) => new GatewayClient({ ...target(provider), timeoutMs: GATEWAY_MS }),
    });
    if (flags.text("output") === "json") io.out(`${printable(JSON.stringify(estimateJson(answers)))}\n`);
    else if (answers.length === 0) io.err("no provider is registered on this chain\n");
    else io.out(textTable([HEADINGS, ...answers.map((answer) => row(answer, seconds).map(printable))]));
    return answers.some(({ screening }) => screening.bid) ? 0 : 1;
  } finally {
    chain.close();
  }
}

function row({ group, provider, screening }: GroupEstimate, seconds: number): string[] {
  const who = [group, provider.address, provider.hostUri.replace(/^https:\/\//, "")];
  if (!screening.bid) return [...who, "-", "-", "-", screening.reason];
  const { denom, perBlock, perHour, perMonth } = priceOverTime(screening.price, seconds);
  return [...who, ...[perBlock, perHour, perMonth].map((amount) => formatPrice({ denom, amount })), "-"];
}

function estimateJson(answers: readonly GroupEstimate[]): object {
  return {
    estimates: answers.map(({ group, provider, screening }) => ({
      group,
      provider: provider.address,
      host_uri: provider.hostUri,
      bid: screening.bid,
      ...(screening.bid
        ? { price: { denom: screening.price.denom, amount: formatDecShort(screening.price.amount) } }
        : { reason: screening.reason }),
    })),
  };
}
