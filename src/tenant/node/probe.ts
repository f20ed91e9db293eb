import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect, type LookupFunction } from "node:net";
import { checkInterrupted } from "../session/clock.ts";
import type { HttpAnswer, Probe } from "../session/probe.ts";

const TIMEOUT_MS = 5_000;
const START_LENGTH = 200;

/** Names below `localhost` are this machine (RFC 6761 section 6.3), even if the resolver does not know them. */
const lookupLocal: LookupFunction = (_host, options, done) => {
  if (options.all === true) done(null, [{ address: "127.0.0.1", family: 4 }]);
  else done(null, "127.0.0.1", 4);
};

export const networkProbe: Probe = {
  async http(url, signal) {
    try {
      return { ...(await get(url, signal)), isPlain: true };
    } catch (error) {
      if (!new URL(url).hostname.endsWith(".localhost") || !isUnknownHost(error)) throw error;
      return { ...(await get(url, signal, lookupLocal)), isPlain: false };
    }
  },
  tcp(host, port, signal) {
    checkInterrupted(signal);
    const lookup = host.endsWith(".localhost") ? { lookup: lookupLocal } : {};
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port, timeout: TIMEOUT_MS, ...lookup });
      const stop = (): void => void socket.destroy(new Error("interrupted"));
      signal.addEventListener("abort", stop, { once: true });
      socket.once("connect", () => {
        socket.destroy();
        resolve();
      });
      socket.once("timeout", () => socket.destroy(new Error(`no answer in ${TIMEOUT_MS / 1000} s`)));
      socket.once("error", reject);
      socket.once("close", () => signal.removeEventListener("abort", stop));
    });
  },
};

function isUnknownHost(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOTFOUND" || error.code === "EAI_AGAIN");
}

function get(url: string, signal: AbortSignal, lookup?: LookupFunction): Promise<Omit<HttpAnswer, "isPlain">> {
  const target = new URL(url);
  const send = target.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send(target, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      // The certificate of a tenant's host name says nothing about whether the service runs.
      rejectUnauthorized: false,
      ...(lookup === undefined ? {} : { lookup }),
    });
    request.on("error", reject);
    request.on("response", (response) => {
      const status = response.statusCode ?? 0;
      response.setEncoding("latin1");
      response.on("error", reject);
      response.once("end", () => resolve({ status, start: "" }));
      response.once("data", (data: string) => {
        resolve({ status, start: data.slice(0, START_LENGTH) });
        response.destroy();
      });
    });
    request.end();
  });
}
