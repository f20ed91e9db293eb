import { type CertificateRecord, clientErrors } from "../../../client/index.ts";
import { parseCertificatePem } from "../../../crypto/index.ts";
import { formatCoin, type IntCoin } from "../../../util/index.ts";
import { chainView } from "../../chain.ts";
import { daemonErrors } from "../../errors.ts";
import type { ProviderRequest, StartRequest } from "../request.ts";
import { growingPauseMs, sleep, untilAnswered } from "./wait.ts";

/** Number of blocks within which a certificate that was just sent must be included. */
const CERTIFICATE_BLOCKS = 2n;
const HTTPS_PORT = 443;

/** A node of another chain has none of our orders and leases. */
export async function checkChain(request: StartRequest): Promise<void> {
  const { client } = request;
  const { chainId } = await untilAnswered(() => client.node.status(), request);
  const ours = await untilAnswered(() => client.chainId(), request);
  if (chainId !== ours) throw clientErrors.wrongChain(`the node serves ${chainId}, not ${ours}`);
}

/** The deposit of a bid: as configured, or the least that the chain takes. Rejects when the chain would refuse it. */
export async function askDeposit(request: StartRequest): Promise<IntCoin> {
  const { config, client } = request;
  const { bidMinDeposits } = await untilAnswered(() => chainView(client.query).marketParams(), request);
  const { bidDeposit = bidMinDeposits[0] } = config;
  if (bidDeposit === undefined) throw daemonErrors.noDeposit();
  const least = bidMinDeposits.find(({ denom }) => denom === bidDeposit.denom);
  if (bidMinDeposits.length > 0 && (least === undefined || bidDeposit.amount < least.amount)) {
    const text = `${formatCoin(bidDeposit)}, the chain takes ${bidMinDeposits.map(formatCoin).join(" or ")} and more`;
    throw daemonErrors.badDeposit(text);
  }
  return bidDeposit;
}

/** The account is a provider on the chain. */
export async function checkRegistered(request: StartRequest): Promise<void> {
  const { address } = request.signer;
  const record = await untilAnswered(() => chainView(request.client.query).provider(address), request);
  if (record === undefined) throw daemonErrors.notRegistered(address);
  comparePorts(record.hostUri, request);
}

/** Behind a proxy or a router the difference is right; otherwise this provider is unreachable. */
function comparePorts(hostUri: string, { config, log }: ProviderRequest): void {
  const { host, port } = config.gateway;
  const uri = URL.canParse(hostUri) ? new URL(hostUri) : undefined;
  if (uri === undefined || port === 0 || Number(uri.port || HTTPS_PORT) === port) return;
  log.warn("tenants are sent to a port that is not the gateway's", {
    host_uri: hostUri,
    gateway: `${host}:${port}`,
    remedy: `forward that port to ${port}, start with --gateway-listen-address ${host}:${uri.port || HTTPS_PORT}, or change host_uri with: svc tx provider update`,
  });
}

/** Tenants compare the gateway's certificate with the chain: without it they could take our bids and never reach us. */
export async function checkCertificate(request: StartRequest): Promise<void> {
  const { serial, notAfter } = parseCertificatePem(request.identity.certificate);
  const name = `certificate ${serial}`;
  const end = new Date(notAfter * 1000);
  if (end.getTime() <= Date.now()) throw daemonErrors.certificate(`${name} ended on ${end.toISOString()}`);
  const record = await publishedCertificate(serial, request);
  if (record === undefined) throw daemonErrors.certificate(`${name} is not on the chain`);
  if (record.state !== "valid") throw daemonErrors.certificate(`${name} is ${record.state}`);
}

/** The certificate on the chain; after sending it there is no need to wait for its block. */
async function publishedCertificate(serial: string, request: StartRequest): Promise<CertificateRecord | undefined> {
  const { client, signer, log, signal } = request;
  const chain = chainView(client.query);
  const height = async (): Promise<bigint> => (await client.node.status()).latestHeight;
  const last = (await untilAnswered(height, request)) + CERTIFICATE_BLOCKS;
  for (let tries = 0; ; tries++) {
    const now = await untilAnswered(height, request);
    const record = await untilAnswered(() => chain.certificate(signer.address, serial), request);
    if (record !== undefined || now >= last) return record;
    if (tries === 0) log.info("waiting for a block to include the certificate", { serial });
    await sleep(growingPauseMs(0), signal);
  }
}
