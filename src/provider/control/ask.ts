import { request } from "node:http";
import * as v from "valibot";
import type { PriceChange } from "../pricing/index.ts";
import { socketPath } from "../socket-path.ts";
import { type ProviderFacts, providerFacts, type TriedPrices, triedPrices } from "./facts.ts";
import { CONTROL_LIMITS, CONTROL_SOCKET, type ControlState, controlState } from "./protocol.ts";

/** No provider runs in the folder. */
const ABSENT: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ECONNREFUSED"]);

/** The state of the provider that runs in the folder; undefined if none does. */
export async function askProvider(folder: string): Promise<ControlState | undefined> {
  const answer = await ask(folder, "/state");
  return answer === undefined ? undefined : v.parse(controlState, answer);
}

/** The same with more particulars, for pages. */
export async function askFacts(folder: string): Promise<ProviderFacts | undefined> {
  const answer = await ask(folder, "/facts");
  return answer === undefined ? undefined : v.parse(providerFacts, answer);
}

/** Gives the provider that runs in the folder other prices; false if none does. Rejects with its sentence if they cannot be. */
export async function askPrices(folder: string, change: PriceChange): Promise<boolean> {
  return (await ask(folder, "/prices", JSON.stringify(change))) !== undefined;
}

/** Bids on the latest orders under other prices; none is changed. Undefined and rejections as above. */
export async function askBids(folder: string, change: PriceChange): Promise<TriedPrices | undefined> {
  const answer = await ask(folder, "/prices/try", JSON.stringify(change));
  return answer === undefined ? undefined : v.parse(triedPrices, answer);
}

async function ask(folder: string, path: string, body?: string): Promise<unknown> {
  try {
    const { path: socket, release } = socketPath(folder, CONTROL_SOCKET);
    try {
      return JSON.parse(await read(socket, { path, body }));
    } finally {
      release();
    }
  } catch (error) {
    if (error instanceof Error && "code" in error && ABSENT.has(String(error.code))) return undefined;
    throw error;
  }
}

interface Question {
  readonly path: string;
  /** Asks for a change. */
  readonly body: string | undefined;
}

function read(socketPath: string, { path, body }: Question): Promise<string> {
  const method = body === undefined ? "GET" : "PUT";
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path, method, agent: false }, (response) => {
      if (response.statusCode === 404)
        asked.destroy(new Error("the running provider is of an earlier version: start it again with this one"));
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > CONTROL_LIMITS.answer) asked.destroy(new Error("the provider's answer has no end"));
        chunks.push(chunk);
      });
      response.once("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(text));
      });
      response.once("error", reject);
    });
    const late = setTimeout(
      () => asked.destroy(new Error("the provider did not answer in time")),
      CONTROL_LIMITS.timeoutMs,
    );
    asked.once("close", () => clearTimeout(late));
    asked.once("error", reject);
    asked.end(body);
  });
}
