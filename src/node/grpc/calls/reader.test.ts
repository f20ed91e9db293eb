import { connect, createServer, type Http2Server } from "node:http2";
import { afterEach, expect, it } from "vitest";
import { endAnswer } from "./reader.ts";

let server: Http2Server | undefined;

afterEach(() => server?.close());

it("breaks off a whole answer that its client does not read", async () => {
  const made = createServer();
  server = made;
  const closed = new Promise<void>((resolve) => {
    made.on("request", (_, response) => {
      response.on("error", () => {}).on("close", resolve);
      response.writeHead(200);
      // More than the client's window holds.
      response.end(Buffer.alloc(1 << 20));
      setImmediate(() => endAnswer(response.stream));
    });
  });
  await new Promise<void>((resolve) => made.listen(0, "127.0.0.1", resolve));
  const address = made.address();
  const client = connect(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`);
  client.on("error", () => {});
  client.request({ ":path": "/" }).on("error", () => {});
  await expect(closed).resolves.toBeUndefined();
  client.destroy();
});
