import path from "virtual:argon2-worker.js";
import { signal } from "@preact/signals";
import * as v from "valibot";
import { type DecimalCoin, parseDecCoins, SvcError } from "../../util/index.ts";
import { Service } from "../../wire/gen/sdk/base/node/v1beta1/query_pb.js";
import type { Any } from "../../wire/index.ts";
import { walletErrors } from "../wallet/errors.ts";
import type { KeyringKey } from "../wallet/keyring.ts";
import type { Derive } from "../wallet/sealed.ts";
import type { SendPlace, Sent } from "../wallet/send.ts";
import type { Wallet } from "../wallet/wallet.ts";
import { chainId, doubt } from "./blocks/head.ts";
import { chain, jsonOf, postJson, session } from "./chain.ts";
import { startWorker } from "./worker.ts";

/** The account that signs for the pages; undefined while none is connected. */
export const wallet = signal<Wallet | undefined>(undefined);
/** Why the account before is connected no more. */
export const ended = signal<Error | undefined>(undefined);
/** Counts changes of the account's state, such as a lock that has closed. */
export const walletState = signal(0);

/** Makes an account the one of the pages, until it changes in the wallet. */
export function adopt(account: Wallet): void {
  wallet.value = account;
  ended.value = undefined;
  void forgetSessions(account.address);
  account.onChange(() => {
    walletState.value += 1;
    if (account.kind === "extension" && wallet.peek() === account) disconnect(walletErrors.switched());
  });
}

/** Lets the account go, with its session at gateways. */
export function disconnect(reason?: Error): void {
  wallet.value = undefined;
  ended.value = reason;
  void forgetSessions();
}

/** A browser that keeps nothing has nothing to forget. */
async function forgetSessions(kept?: string): Promise<void> {
  const { removeSessions } = await import("../wallet/stored/sessions.ts");
  await removeSessions(kept).catch(() => undefined);
}

/** Connects the key that `svc console --from` names: its user has chosen it there. */
export async function adoptNamed(): Promise<void> {
  const [key] = session.peek()?.keys ?? [];
  if (key === undefined) return;
  const shown = await new Promise<string>((resolve) => {
    const end = chainId.subscribe((id) => {
      if (id === undefined) return;
      resolve(id);
      queueMicrotask(() => end());
    });
  });
  const account = await ofKeyring(key, shown);
  if (wallet.peek() === undefined) adopt(account);
}

/** The account of a key of the keyring. */
export async function ofKeyring(key: KeyringKey, chainId: string): Promise<Wallet> {
  const { keyringWallet } = await import("../wallet/keyring.ts");
  return keyringWallet(key, { chainId, call: postJson });
}

const infoAnswer = v.looseObject({ chainId: v.string() });

/** The chain as wallets take it into their lists. */
export async function loadChainInfo(): Promise<v.InferOutput<typeof infoAnswer>> {
  return v.parse(infoAnswer, await jsonOf("chain.json"));
}

/** Signs and sends messages by the account, and waits for their block. Rejects while the node is doubtful. */
export async function send(messages: readonly Any[], memo: string, onStage: SendPlace["onStage"]): Promise<Sent> {
  const [account, shown] = [wallet.peek(), chainId.peek()];
  if (account === undefined) throw walletErrors.readOnly();
  if (shown === undefined || doubt.peek() !== undefined) throw walletErrors.otherChain();
  const { sendFrom } = await import("../wallet/send.ts");
  // Browsers have locks on pages that came over https or from this machine.
  const locks: SendPlace["locks"] =
    "locks" in navigator ? { request: (name, run) => navigator.locks.request(name, run) } : undefined;
  const place = { chain, chainId: shown, storage: localStorage, locks, gasPrices: await gasPrices(), onStage };
  return sendFrom(account, messages, place, memo);
}

/**
 * Sends messages by an account, until they are in a block: an earlier transaction whose fate was not known comes first. Rejects as
 * `send` does, with the error of the chain, and when the account is connected no more.
 */
export async function sendOwn(
  account: Wallet,
  messages: readonly Any[],
  onStage: SendPlace["onStage"],
): Promise<{ readonly hash: string; readonly height: bigint }> {
  for (;;) {
    if (wallet.peek() !== account) throw walletErrors.switched();
    const { response, isEarlier } = await send(messages, "", onStage);
    if (isEarlier) continue;
    if (response.code !== 0) throw new SvcError(response.codespace, response.code, response.rawLog);
    return { hash: response.txhash, height: response.height };
  }
}

/** Prices of gas that the node asks for. It may take several denominations; fees are paid in the first. */
export async function gasPrices(): Promise<readonly DecimalCoin[]> {
  const { minimumGasPrice } = await chain.query.call(Service.method.config, {});
  return parseDecCoins(minimumGasPrice).slice(0, 1);
}

/** Derives the key of a passphrase in a worker. */
export const derive: Derive = (request) =>
  new Promise((resolve, reject) => {
    const worker = startWorker(path);
    worker.onmessage = ({ data }: MessageEvent<Uint8Array>) => {
      worker.terminate();
      resolve(data);
    };
    worker.onerror = () => {
      worker.terminate();
      reject(walletErrors.stored("the browser runs no worker"));
    };
    worker.postMessage(request);
  });
