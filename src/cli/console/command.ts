import {
  type GatewayTarget,
  marketReader,
  parseNodeAddress,
  publishedCertificates,
  type TxSigner,
} from "../../client/index.ts";
import { ConsolePages, consoleFiles, remoteConsole } from "../../node/index.ts";
import { silentLogger } from "../../util/index.ts";
import { decodeAddress } from "../../wire/index.ts";
import { userPath } from "../command/home.ts";
import type { CommandInput } from "../command/spec.ts";
import { type CliContext, createContext } from "../context/context.ts";
import { usageError } from "../errors.ts";
import { keyringSigner, requireSigningKey } from "../keys/signer.ts";
import { stopRequested } from "../terminal/signals.ts";
import type { OwnCall } from "./calls.ts";
import { ConfirmationPage } from "./confirm.ts";
import { MAX_NODE_ANSWER, MAX_NODE_BODY, NODE_TIMEOUT_MS } from "./limits.ts";
import { operatorCalls, requireProvider } from "./operator.ts";
import { atTerminal, Questions } from "./questions.ts";
import { relayTo } from "./relay.ts";
import { ConsoleServer } from "./server.ts";
import { Signing } from "./signing.ts";

/** `svc console`. */
export async function runConsole(input: CommandInput): Promise<void> {
  const context = createContext(input);
  const { io, flags } = context;
  if (isOnPage(flags) && !flags.given("from") && !flags.given("provider"))
    throw usageError("--confirm page has nothing to ask without --from or --provider");
  // The keyring asks for its passphrase before anything is served.
  const signer = await signerOfFlags(context);
  const confirmation = isOnPage(flags) ? new ConfirmationPage(tellTo(context)) : undefined;
  const questions = new Questions(confirmation ?? atTerminal(io));
  const chain = await context.chain();
  const stop = stopRequested();
  try {
    const server = await openServer(context, { signer, questions });
    try {
      const url = await server.listen();
      const confirm = await confirmation?.listen();
      if (context.output === "json") io.out(`${JSON.stringify({ url, confirm, pid: process.pid })}\n`);
      else io.out(`${url}\n`);
      io.err(`The link opens the console of ${flags.text("node")} once. Ctrl-C ends it.\n`);
      if (confirm !== undefined) io.err(`Questions are answered on a page of their own; open it once: ${confirm}\n`);
      await stop.received;
    } finally {
      await confirmation?.close();
      await server.close();
      // A question that is still on the screen would keep the process waiting for its answer.
      if (questions.isAsking) process.stdin.pause();
    }
  } finally {
    stop.forget();
    chain.close();
  }
}

function isOnPage(flags: CliContext["flags"]): boolean {
  return flags.text("confirm") === "page";
}

function tellTo({ io }: CliContext) {
  return (line: string): void => io.err(`${line}\n`);
}

interface Key {
  readonly name: string;
  readonly signer: TxSigner;
}

/** The key of `--from`; none is used unless it is named. */
async function signerOfFlags(context: CliContext): Promise<Key | undefined> {
  const from = context.flags.optional("from");
  if (from === undefined) return undefined;
  const sender = await requireSigningKey(context, from);
  return { name: sender.key.name, signer: await keyringSigner(context, sender) };
}

async function openServer(
  context: CliContext,
  { signer: key, questions }: { readonly signer: Key | undefined; readonly questions: Questions },
): Promise<ConsoleServer> {
  const chain = await context.chain();
  const chainId = await context.chainId();
  const { http } = parseNodeAddress(context.flags.text("node"));
  const asksForSessions = context.flags.text("allow") === "none";
  const tell = tellTo(context);
  const signing = key && new Signing({ ...key, chainId, questions, asksForSessions, tell });
  const market = marketReader(chain.query);
  const operator = await operatorOf(context);
  const calls = new Map<string, OwnCall>([
    ...(signing?.calls ?? []),
    ...(operator === undefined ? [] : operatorCalls({ home: operator.home, market, questions })),
  ]);
  const own = {
    ...(signing && { keys: signing.keys }),
    ...(operator && { provider: operator.address, providerHome: operator.home }),
  };
  const session = () => JSON.stringify({ mode: "console", chainId, node: http.href, ...own });
  const pages = new ConsolePages({ files: consoleFiles(), session, connect: "'self'" });
  const rpc = relayTo(http, { bodyBytes: MAX_NODE_BODY, answerBytes: MAX_NODE_ANSWER, timeoutMs: NODE_TIMEOUT_MS });
  const console = await remoteConsole({ pages, node: chain.node, rpc, logger: silentLogger, chainId });
  const certificateOf = publishedCertificates(chain.query);
  return new ConsoleServer({
    console,
    calls,
    provider: async (address): Promise<GatewayTarget | undefined> => {
      if (!isAddress(address)) return undefined;
      const record = await market.provider(address);
      return record === undefined ? undefined : { provider: address, hostUri: record.hostUri, certificateOf };
    },
  });
}

/** The provider that runs in the home of `--provider`. */
async function operatorOf({ flags }: CliContext) {
  const text = flags.optional("provider");
  if (text === undefined) return undefined;
  const home = userPath(text);
  return { home, address: (await requireProvider({ home })).provider };
}

function isAddress(text: string): boolean {
  try {
    decodeAddress(text);
    return true;
  } catch {
    return false;
  }
}
