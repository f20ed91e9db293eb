import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { get, globalAgent } from "node:https";
import { type AddressInfo, createServer as createNetServer } from "node:net";
import { join } from "node:path";
import { AUTHORITY, openAuthority } from "../../src/provider/certificates/index.ts";
import { freePorts, waitFor } from "../support/index.ts";
import type { Peer } from "./peers.ts";

export interface AcmeServerOptions {
  readonly peer: Peer;
  /** For its files. */
  readonly folder: string;
  /** Where it looks at host names, over HTTP. */
  readonly httpPort: number;
  readonly port: number;
  readonly blocked?: readonly string[];
  /** How long its certificates are valid. */
  readonly validitySeconds?: number;
}

/** An ACME server in its own process, for which every name leads to this machine. */
export interface AcmeServer {
  readonly directory: string;
  /** The certificate that its own certificates come from, PEM. */
  roots(): Promise<string>;
  close(): void;
}

/** Makes the certificate of the server, before it runs; returns the file of the authority that clients of it trust. */
export async function acmeAuthority(folder: string): Promise<string> {
  const { chain, key } = await (await openAuthority(folder)).issue("localhost", new AbortController().signal);
  writeFileSync(join(folder, "acme.crt"), chain);
  writeFileSync(join(folder, "acme.key"), key);
  return join(folder, AUTHORITY.certificate);
}

/** Starts it with the certificate that `acmeAuthority` made in the folder, and trusts it in this process until it is closed. */
export async function startAcmeServer(options: AcmeServerOptions): Promise<AcmeServer> {
  const { peer, folder, httpPort, port, blocked = [], validitySeconds } = options;
  const [management = 0, tlsPort = 0] = await freePorts(2);
  const config = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${management}`,
    certificate: join(folder, "acme.crt"),
    privateKey: join(folder, "acme.key"),
    httpPort,
    tlsPort,
    ocspResponderURL: "",
    externalAccountBindingRequired: false,
    domainBlocklist: blocked,
    ...(validitySeconds === undefined
      ? {}
      : { profiles: { default: { description: "short", validityPeriod: validitySeconds } } }),
  };
  writeFileSync(join(folder, "pebble.json"), JSON.stringify({ pebble: config }));
  const names = await nameServer();
  const server = peer.start(
    ["-config", join(folder, "pebble.json"), "-dnsserver", `127.0.0.1:${(names.address() as AddressInfo).port}`],
    { env: { PEBBLE_VA_NOSLEEP: "1" } },
  );
  const trusted = globalAgent.options.ca;
  globalAgent.options.ca = readFileSync(join(folder, AUTHORITY.certificate));
  const directory = `https://localhost:${port}/dir`;
  await waitFor(async () => (await page(directory)).includes("newOrder"), "the ACME server");
  return {
    directory,
    roots: () => page(`https://localhost:${management}/roots/0`),
    close: () => {
      globalAgent.options.ca = trusted;
      names.close();
      server.process.kill("SIGKILL");
    },
  };
}

/** A name server over TCP that resolves every name to this machine (RFC 1035 section 4). */
async function nameServer() {
  const names = createNetServer((socket) => {
    let rest = Buffer.alloc(0);
    socket
      .on("error", () => {})
      .on("data", (piece) => {
        rest = Buffer.concat([rest, piece]);
        while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE(0)) {
          const length = rest.readUInt16BE(0);
          const answer = answerOf(rest.subarray(2, 2 + length));
          rest = rest.subarray(2 + length);
          socket.write(Buffer.concat([Buffer.from([answer.length >> 8, answer.length & 255]), answer]));
        }
      });
  });
  await once(names.listen(0, "127.0.0.1"), "listening");
  return names;
}

function answerOf(query: Buffer): Buffer {
  const end = query.indexOf(0, 12) + 5;
  const isAddress = query.readUInt16BE(end - 4) === 1;
  const head = Buffer.from([0x81, 0x80, 0, 1, 0, isAddress ? 1 : 0, 0, 0, 0, 0]);
  const record = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1]);
  return Buffer.concat([query.subarray(0, 2), head, query.subarray(12, end), ...(isAddress ? [record] : [])]);
}

async function page(url: string): Promise<string> {
  const [answer] = (await once(get(url, { agent: globalAgent, headers: { "user-agent": "test" } }), "response")) as [
    IncomingMessage,
  ];
  let text = "";
  for await (const piece of answer) text += String(piece);
  return text;
}
