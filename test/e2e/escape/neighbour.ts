import { request } from "node:http";
import { pause } from "../../support/index.ts";

const PAUSE_MS = 20;
const ANSWER_MS = 30_000;
const LEAST_ANSWERS = 5;

/** What a neighbour of the attacked service saw meanwhile. */
export interface Seen {
  readonly answers: number;
  /** Everything but the page; empty when each request was answered. */
  readonly wrong: readonly string[];
  /** Milliseconds. */
  readonly p95: number;
}

/** A client that asks a tenant's page again and again while the work goes on, and for some answers at least. */
export async function seenMeanwhile(url: string, work: () => Promise<unknown>): Promise<Seen> {
  const times: number[] = [];
  const wrong: string[] = [];
  let going = true;
  const client = (async () => {
    while (going || times.length + wrong.length < LEAST_ANSWERS) {
      const began = performance.now();
      const answer = await statusOf(url);
      if (answer === "200") times.push(performance.now() - began);
      else wrong.push(answer);
      await pause(PAUSE_MS);
    }
  })();
  try {
    await work();
  } finally {
    going = false;
    await client;
  }
  const sorted = times.toSorted((a, b) => a - b);
  return { answers: times.length, wrong, p95: sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN };
}

/** Under its host name, where it has one; the connection is a new one each time. */
function statusOf(url: string): Promise<string> {
  const { hostname, host, port } = new URL(url);
  return new Promise((resolve) => {
    const options = { host: "127.0.0.1", port, headers: { host }, agent: false, timeout: ANSWER_MS };
    const asked = request(options, (response) => {
      response.resume().on("end", () => resolve(String(response.statusCode)));
    });
    asked.on("timeout", () => asked.destroy(new Error(`${hostname} did not answer`)));
    asked.on("error", (error) => resolve(error.message)).end();
  });
}
