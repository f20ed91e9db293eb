import { type GatewayTarget, marketReader, parseNodeAddress, publishedCertificates } from "../../client/index.ts";
import { ConsolePages, consoleFiles, remoteConsole } from "../../node/index.ts";
import { silentLogger } from "../../util/index.ts";
import { decodeAddress } from "../../wire/index.ts";
import type { CommandInput } from "../command/spec.ts";
import { type CliContext, createContext } from "../context/context.ts";
import { stopRequested } from "../terminal/signals.ts";
import { MAX_NODE_ANSWER, MAX_NODE_BODY, NODE_TIMEOUT_MS } from "./limits.ts";
import { relayTo } from "./relay.ts";
import { ConsoleServer } from "./server.ts";

/** `svc console`. */
export async function runConsole(input: CommandInput): Promise<void> {
  const context = createContext(input);
  const { io, flags } = context;
  const chain = await context.chain();
  const stop = stopRequested();
  try {
    const server = await openServer(context);
    try {
      const url = await server.listen();
      if (context.output === "json") io.out(`${JSON.stringify({ url, pid: process.pid })}\n`);
      else io.out(`${url}\n`);
      io.err(`The link opens the console of ${flags.text("node")} once. Ctrl-C ends it.\n`);
      await stop.received;
    } finally {
      await server.close();
    }
  } finally {
    stop.forget();
    chain.close();
  }
}

async function openServer(context: CliContext): Promise<ConsoleServer> {
  const chain = await context.chain();
  const chainId = await context.chainId();
  const { http } = parseNodeAddress(context.flags.text("node"));
  const session = () => JSON.stringify({ mode: "console", chainId, node: http.href });
  const pages = new ConsolePages({ files: consoleFiles(), session, connect: "'self'" });
  const rpc = relayTo(http, { bodyBytes: MAX_NODE_BODY, answerBytes: MAX_NODE_ANSWER, timeoutMs: NODE_TIMEOUT_MS });
  const console = await remoteConsole({ pages, node: chain.node, rpc, logger: silentLogger, chainId });
  const market = marketReader(chain.query);
  const certificateOf = publishedCertificates(chain.query);
  return new ConsoleServer({
    console,
    provider: async (address): Promise<GatewayTarget | undefined> => {
      if (!isAddress(address)) return undefined;
      const record = await market.provider(address);
      return record === undefined ? undefined : { provider: address, hostUri: record.hostUri, certificateOf };
    },
  });
}

function isAddress(text: string): boolean {
  try {
    decodeAddress(text);
    return true;
  } catch {
    return false;
  }
}
