import { signal } from "@preact/signals";
import * as v from "valibot";
import { ChainClient } from "../../client/index.ts";

/** Interfaces of the node lie below the console on its own origin: a page asks no other. */
export const api = (path: string): URL => new URL(`api/${path}`, document.baseURI);

/** Why the events of new blocks do not come; undefined while they do. */
export const lost = signal<Error | undefined>(undefined);

/** The node that serves, or is relayed to, this page. */
export const chain = new ChainClient(api("rpc").href, {
  onProblem: (error) => {
    lost.value = error;
  },
});

const sessionAnswer = v.object({
  mode: v.picklist(["console", "node"]),
  /** Address of the node behind `svc console`, or the name that a node gives itself. */
  node: v.optional(v.string()),
  /** Account of the provider whose operator's page `svc console` has. */
  provider: v.optional(v.string()),
  /** Home of that provider. */
  providerHome: v.optional(v.string()),
  /** Keys of the keyring that `svc console` signs with. */
  keys: v.optional(v.array(v.object({ name: v.string(), address: v.string(), publicKey: v.string() }))),
});

/** The server of this origin. */
export type Session = v.InferOutput<typeof sessionAnswer>;

/** Undefined until the server has answered, and for servers of files alone. */
export const session = signal<Session | undefined>(undefined);

/** Without such a document the pages work all the same. Rejects with a `TypeError` where the network fails. */
export async function loadSession(): Promise<void> {
  const found = await jsonOf("session").catch((error: unknown) => {
    if (error instanceof TypeError) throw error;
  });
  const answer = v.safeParse(sessionAnswer, found);
  if (answer.success) session.value = answer.output;
}

/** Asks the server for something, and reads its answer in JSON. Rejects with the sentence of a refusal. */
export function postJson(path: string, body: object): Promise<unknown> {
  const headers = { accept: "application/json", "content-type": "application/json" };
  return answered(path, { method: "POST", headers, body: JSON.stringify(body) });
}

/** A document of the server in JSON. Rejects with a sentence if there is none. */
export function jsonOf(path: string): Promise<unknown> {
  return answered(path, { headers: { accept: "application/json" } });
}

const refusal = v.object({ message: v.string() });

async function answered(path: string, init: RequestInit): Promise<unknown> {
  const answer = await fetch(api(path), init);
  const text: unknown = await answer.json().catch((error: unknown) => {
    // An answer that was cut off is none.
    if (!(error instanceof SyntaxError)) throw error;
  });
  if (answer.ok) return text;
  const read = v.safeParse(refusal, text);
  throw new Error(read.success ? read.output.message : `${api(path).pathname} answered ${answer.status}`);
}
