import { create } from "@bufbuild/protobuf";
import { toHex } from "../../src/util/index.ts";
import { Query as BankQuery } from "../../src/wire/gen/sdk/bank/v1beta1/query_pb.js";
import { decodeAddress, encodeAddress, encodeMessage, methodPath } from "../../src/wire/index.ts";
import { Connection, getRequest, request } from "./connection.ts";
import { GrpcConnection } from "./grpc-connection.ts";
import { loadKeys } from "./load-accounts.ts";

export const INTERFACES = ["abci_query", "REST", "gRPC"] as const;
export type Interface = (typeof INTERFACES)[number];

/** A loader's requests to a node. */
export interface Load {
  readonly kind: Interface;
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  readonly accounts: number;
  readonly prefix: string;
  readonly denom: string;
}

/** Asks for a balance by its number and checks the answer. */
type Ask = (number: number) => Promise<void>;

interface Client {
  /** One for each connection. */
  readonly asks: readonly Ask[];
  readonly close: () => void;
}

/** Asks over every connection until the time is up. */
export async function runLoad(load: Load): Promise<{ count: number; seconds: number }> {
  const { asks, close } = await CLIENTS[load.kind](load);
  const started = performance.now();
  const end = started + load.seconds * 1000;
  const counts = await Promise.all(asks.map((ask, i) => askUntil(ask, { end, from: i * 131 })));
  const taken = (performance.now() - started) / 1000;
  close();
  return { count: counts.reduce((total, count) => total + count, 0), seconds: taken };
}

async function askUntil(ask: Ask, { end, from }: { readonly end: number; readonly from: number }): Promise<number> {
  let count = 0;
  while (performance.now() < end) {
    await ask(from + count);
    count += 1;
  }
  return count;
}

/** The addresses of the load's accounts on a network. */
export function addressesOf(accounts: number, prefix: string): string[] {
  return loadKeys(accounts).map(({ address }) => encodeAddress(decodeAddress(address), "account", prefix));
}

/** The spelling that both kinds of nodes know. */
const METHOD = methodPath(BankQuery.method.balance, "cosmos");
const CLIENTS: Readonly<Record<Interface, (load: Load) => Promise<Client>>> = {
  abci_query: (load) =>
    overHttp(load, (data) => request("abci_query", { path: METHOD, data: toHex(data), height: "0", prove: false })),
  REST: (load) =>
    overHttp(load, (_, address) => getRequest(`/cosmos/bank/v1beta1/balances/${address}/by_denom?denom=${load.denom}`)),
  gRPC: overGrpc,
};

/** The encoded questions, one for each account. */
function questions<T>(load: Load, make: (data: Uint8Array, address: string) => T): T[] {
  const { input } = BankQuery.method.balance;
  const { denom } = load;
  return addressesOf(load.accounts, load.prefix).map((address) =>
    make(encodeMessage(input, create(input, { address, denom })), address),
  );
}

function nth<T>(list: readonly T[], number: number): T {
  const found = list[number % list.length];
  if (found === undefined) throw new Error("there are no accounts");
  return found;
}

async function overHttp(load: Load, make: (data: Uint8Array, address: string) => Buffer): Promise<Client> {
  const requests = questions(load, make);
  const open = await Promise.all(Array.from({ length: load.connections }, () => Connection.open(load.port)));
  const asks = open.map((connection) => async (number: number) => {
    const answer = await connection.ask(nth(requests, number));
    const isRight = load.kind === "REST" ? answer.includes('"balance"') : answer.includes('"code":0');
    if (!isRight) throw new Error(`a query was refused: ${answer}`);
  });
  return {
    asks,
    close: () => {
      for (const connection of open) connection.close();
    },
  };
}

async function overGrpc(load: Load): Promise<Client> {
  const frames = questions(load, (data) => Buffer.concat([Buffer.from([0, 0, 0, 0, data.length]), data]));
  const connection = await GrpcConnection.open(load.port, METHOD);
  const ask: Ask = (number) => connection.call(nth(frames, number));
  return { asks: Array.from({ length: load.connections }, () => ask), close: () => connection.close() };
}
