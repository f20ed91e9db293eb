import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer as createTcpServer, type Server as TcpServer } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { runCli } from "../../test/cli/run.ts";
import { httpTransport } from "../client/rpc/transport.ts";

let server: Server | TcpServer | undefined;
afterEach(() => {
  if (server !== undefined && "closeAllConnections" in server) server.closeAllConnections();
  server?.close();
  server = undefined;
});

async function listen(made: Server | TcpServer): Promise<string> {
  server = made;
  await new Promise<void>((resolve) => made.listen(0, "127.0.0.1", resolve));
  const address = made.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return `127.0.0.1:${address.port}`;
}

type Headers = Readonly<Record<string, string>>;

/** A server that answers every request alike. */
function answering(body: string | Uint8Array, status = 200, headers: Headers = {}): RequestListener {
  return (request: IncomingMessage, response: ServerResponse) => {
    request.resume().on("end", () => response.writeHead(status, headers).end(body));
  };
}

const rpc = (result: unknown): RequestListener => answering(JSON.stringify({ jsonrpc: "2.0", id: 1, result }));
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
const STATUS = {
  node_info: { network: "x", version: "1" },
  sync_info: { latest_block_height: "1", latest_block_time: "" },
};

/** Whatever the command: one sentence and one remedy, in our own words. */
const COMMANDS = [
  ["status"],
  ["query", "bank", "total"],
  ["query", "block"],
  ["query", "blocks", "1"],
  ["query", "blocks", "--query", "block.height=1"],
  ["query", "tx", "AB".repeat(32)],
  ["query", "txs", "--events", "a.b=1"],
  ["query", "comet-validator-set"],
];
const OF_LIBRARIES =
  /JSON input|JSON at|Unexpected token|is not valid JSON|\[object|NaN|undefined|Parse Error|call stack|SSL routines|EPROTO|not iterable|Cannot|is not a/;

async function refused(node: string, text: string | RegExp, commands: readonly (readonly string[])[] = COMMANDS) {
  for (const argv of commands) {
    const { code, out, err } = await runCli([...argv, "--node", node]);
    expect({ argv, code, out, err }).toEqual({
      argv,
      code: 1,
      out: "",
      err: expect.stringMatching(/^Error: (.+)\nHint: (.+)\n$/),
    });
    expect(err).toMatch(text);
    expect(err).not.toMatch(OF_LIBRARIES);
  }
}

describe("a node that is busy", () => {
  const after = { "retry-after": "0" };

  test.each([429, 503])("with status %s is asked again, and the command says so", async (status) => {
    let calls = 0;
    const node = await listen(
      createServer((request, response) => {
        const isBusy = ++calls < 3;
        (isBusy ? answering("busy", status, after) : rpc(STATUS))(request, response);
      }),
    );
    const { code, out, err } = await runCli(["status", "--node", node]);
    expect({ code, calls }).toEqual({ code: 0, calls: 3 });
    expect(out).toContain('"network":"x"');
    const line = `the server answers with HTTP status ${status}: the node is busy; trying again in 0 s\n`;
    expect(err).toBe(line.repeat(2));
  });

  test("for longer is an error with its remedy", async () => {
    const node = await listen(createServer(answering("busy", 503, after)));
    const { code, out, err } = await runCli(["query", "bank", "total", "--node", node]);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain(
      "Error: the server answers with HTTP status 503: the node is busy\nHint: try again in a while",
    );
  });
});

describe("a server that is not a node", () => {
  test.each<[string, RequestListener, string | RegExp]>([
    ["a web page", answering("<html><body>hello</body></html>"), "answered a web page"],
    ["a page for a wrong path", answering("<html>not found</html>", 404), "answers with HTTP status 404"],
    ["a proxy without a node", answering("", 502), "answers with HTTP status 502"],
    [
      "a redirect",
      answering("", 301, { location: "https://example.com/" }),
      /status 301, and redirects to "https:\/\/example.com\/"/,
    ],
    ["nothing", answering(""), "answered nothing"],
    ["text", answering("hello"), 'answered with text that is not JSON: "hello"'],
    ["bytes", answering(Uint8Array.of(0x1f, 0x8b, 8, 0, 0xff)), "answered with text that is not JSON"],
    ["JSON that breaks off", answering('{"jsonrpc":"2.0","id":1,"result":{"node_in'), "damaged or truncated"],
    ["lists without end", answering("[".repeat(100_000)), "damaged or truncated"],
    ["a list", answering("[]"), "unexpected answer"],
    ["null", answering("null"), "unexpected answer"],
    ["a number", answering("5"), "unexpected answer"],
    ["an empty object", answering("{}"), "answered without a result"],
    ["REST", answering('{"code":12,"message":"Not Implemented","details":[]}', 501), "answered without a result"],
    ["a number as result", rpc(5), "unexpected answer"],
    ["null as result", rpc(null), "unexpected answer"],
    ["nothing in the result", rpc({}), "unexpected answer"],
    ["a list as result", rpc([]), "unexpected answer"],
    [
      "other types",
      rpc({ node_info: [], sync_info: 5, response: "x", block_id: 1, block_metas: 7, validators: {}, txs: 1 }),
      "unexpected answer",
    ],
    ["an error in words", answering('{"error":"boom"}'), "unexpected answer"],
    ["an error of other types", answering('{"error":{"code":{},"message":[]}}'), "an error without code and message"],
    [
      "an error with line ends",
      answering('{"error":{"code":-1,"message":"a\\nb","data":{"c":1}}}'),
      'RPC error -1 - a b: {"c":1}',
    ],
    ["nesting", answering(`{"result":${nested(20_000)}}`), "unexpected answer"],
  ])("that answers %s", async (_, listener, text) => {
    await refused(`http://${await listen(createServer(listener))}`, text);
  });

  test.each([
    ["SSH", "SSH-2.0-OpenSSH_9.2\r\n", "it does not speak HTTP"],
    [
      "its answer has too many headers",
      `HTTP/1.1 200 OK\r\nX: ${"y".repeat(100_000)}`,
      "its answer has too many headers",
    ],
    ["a wrong length", "HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n{}", "it does not speak HTTP"],
    ["half an answer", "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{", /connection reset|breaks off/],
  ])("that speaks %s", async (_, greeting, text) => {
    const made = createTcpServer((socket) => void socket.on("error", () => undefined).end(greeting));
    await refused(`tcp://${await listen(made)}`, text, [["status"]]);
  });

  test("bytes that are not an answer to a query", async () => {
    const node = await listen(createServer(rpc({ response: { code: 0, value: "/////w==", height: "5" } })));
    await refused(node, "bytes that are not a QueryTotalSupplyResponse", [["query", "bank", "total"]]);
  });

  const statusWith = (more: string): RequestListener =>
    answering(`{"jsonrpc":"2.0","id":1,"result":{"more":${more},${JSON.stringify(STATUS).slice(1)}}`);

  test.each([128, 20_000])("a status that is nested %i levels deep", async (levels) => {
    const node = await listen(createServer(statusWith(nested(levels))));
    for (const output of ["json", "text"]) await refused(node, "nested too deeply", [["status", "-o", output]]);
  });

  test("a status that is nested as deep as may be", async () => {
    const node = await listen(createServer(statusWith(nested(127))));
    for (const output of ["json", "text"])
      expect((await runCli(["status", "--node", node, "-o", output])).code).toBe(0);
  });

  test("TLS on one side alone, and a certificate that nobody vouches for", async () => {
    const plain = await listen(createServer(answering("{}")));
    await refused(`https://${plain}`, "it does not speak TLS", [["status"]]);
    server?.close();
    const tls = await listen(createTlsServer({ key: KEY, cert: CERTIFICATE }, answering("{}")));
    await refused(`https://${tls}`, "its certificate is self-signed", [["status"]]);
    await refused(`http://${tls}`, "cannot reach the node", [["status"]]);
  });

  test("an answer without end is given up at the limit", async () => {
    const made = createServer((_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
      };
      response.on("drain", more);
      more();
    });
    const transport = httpTransport(new URL(`http://${await listen(made)}`), () => 1_000_000);
    await expect(transport.post("{}", 5_000)).rejects.toThrow("the answer is larger than 1000000 bytes");
    transport.close();
  });
});

test("a password in an address is not repeated", async () => {
  for (const node of ["http://user:hunter22@host", "user:hunter22@host:1"]) {
    const { code, err } = await runCli(["status", "--node", node]);
    expect([code, err.includes("hunter22")]).toEqual([2, false]);
  }
});

/** A self-signed certificate for this test. */
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgh64pVDKK9NBXYNVd
P6+6ASu3oIkzvC6n1L2oMUzuzEGhRANCAARW08JCUo+9fud8yxbR4Htpvlb43ALL
M7WtUPRZAsGNSUVIUkvRs5fzpMPWoJFkrgxfO9JLM0FTRa9E+2PNly7g
-----END PRIVATE KEY-----
`;
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBnDCCAUGgAwIBAgIUc1ioAOpZw8qjLbnenJY0yxE0haUwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjEyMDkxMFoYDzIxMjYxMDI5
MTIwOTEwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARW08JCUo+9fud8yxbR4Htpvlb43ALLM7WtUPRZAsGNSUVIUkvRs5fz
pMPWoJFkrgxfO9JLM0FTRa9E+2PNly7go28wbTAdBgNVHQ4EFgQUeR34cm+4ApY0
8F++UhAXEji0aDowHwYDVR0jBBgwFoAUeR34cm+4ApY08F++UhAXEji0aDowDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARhwR/AAABgglsb2NhbGhvc3QwCgYIKoZI
zj0EAwIDSQAwRgIhALn9ym7mnrf17oANXfbmUBIjO3PDLBikyAu502nxhqQ/AiEA
qEr2mzRReIsCubmoFODv27TmgWRwwbGiJldiQWltZ4M=
-----END CERTIFICATE-----
`;
