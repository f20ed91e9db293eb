import { X509Certificate } from "node:crypto";
import { certificatePath, readCertificateFile } from "../../../certs/index.ts";
import { CERTIFICATE_BLOCK, decodePem, parseCertificatePem } from "../../../crypto/index.ts";
import { Certificates } from "../../../provider/index.ts";
import { equalBytes, formatCoin, type IntCoin, sumCoins } from "../../../util/index.ts";
import { Query as BankQuery } from "../../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { asked, type ChainFacts } from "./chain.ts";
import { type Check, Fault } from "./finding.ts";
import { hostOf } from "./gateway.ts";

/** Money that a bid takes from the account. */
export interface BidMoney {
  readonly fee: IntCoin;
  /** If absent, the chain's least. */
  readonly deposit: IntCoin | undefined;
}

/** Whether the account pays for a bid. */
export function balanceCheck(facts: ChainFacts, provider: () => Promise<string>, { fee, deposit }: BidMoney): Check {
  return {
    name: "balance",
    fix: "fund the provider's account",
    async look() {
      const address = await provider();
      const least = deposit ?? (await asked(facts.market.marketParams())).bidMinDeposits[0];
      const coins = sumCoins(least === undefined ? [fee] : [least, fee]);
      const texts = await Promise.all(coins.map((coin) => enough(facts, address, coin)));
      return texts.join(", ");
    },
  };
}

async function enough({ chain }: ChainFacts, address: string, { denom, amount }: IntCoin): Promise<string> {
  const answer = await asked(chain.query.call(BankQuery.method.balance, { address, denom }));
  const has = BigInt(answer.balance?.amount ?? "0");
  const text = `${formatCoin({ denom, amount: has })}; a bid takes ${formatCoin({ denom, amount })}`;
  if (has < amount) throw new Error(text);
  return text;
}

/** Days before its end from which a certificate counts as a failure. */
export const CERTIFICATE_DAYS = 14;
const DAY_S = 24 * 3600;
const RENEW = "make a new one: svc tx cert create server <host> --from <key> --rie";

export interface CertificateWish {
  readonly home: string;
  readonly provider: () => Promise<string>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Whether the home has the certificate that the chain has, for the name of the provider, and for long enough. */
export function certificateCheck(facts: ChainFacts, { home, provider, now }: CertificateWish): Check {
  return {
    name: "certificate",
    fix: "make one: svc tx cert create server <host> --from <key> --fees 5000utoken",
    async look() {
      const address = await provider();
      const file = await readCertificateFile(certificatePath(home, address, "server"));
      if (file === undefined) throw new Error(`${home} has no certificate of ${address}`);
      const { serial, notAfter } = parseCertificatePem(file.certificate);
      const days = Math.floor((notAfter - now() / 1000) / DAY_S);
      if (days < CERTIFICATE_DAYS) throw new Fault(`it expires in ${days} days`, RENEW);
      await checkPublished(facts, { address, serial, certificate: file.certificate });
      await checkName(facts, file.certificate);
      return `${serial}, valid for ${days} days`;
    },
  };
}

interface OwnCertificate {
  readonly address: string;
  readonly serial: string;
  readonly certificate: string;
}

async function checkPublished({ market }: ChainFacts, { address, serial, certificate }: OwnCertificate): Promise<void> {
  const record = await asked(market.certificate(address, serial));
  if (record === undefined)
    throw new Fault("it is not on the chain", "publish it: svc tx cert create server <host> --from <key>");
  if (record.state !== "valid") throw new Fault(`it is ${record.state} on the chain`, RENEW);
  const [own, published] = [new TextEncoder().encode(certificate), record.pem].map((pem) =>
    decodePem(CERTIFICATE_BLOCK, pem),
  );
  if (own === undefined || published === undefined || !equalBytes(own, published))
    throw new Fault("it is not the one on the chain", RENEW);
}

async function checkName(facts: ChainFacts, certificate: string): Promise<void> {
  const host = hostOf((await facts.record()).hostUri);
  const parsed = new X509Certificate(certificate);
  if (parsed.checkHost(host) !== undefined || parsed.checkIP(host) !== undefined) return;
  throw new Fault(`it is not for ${host}`, `make one for it: svc tx cert create server ${host} --from <key> --rie`);
}

const DAY_MS = 86_400_000;
/** One of few days is renewed when less of its time is left. */
const LATE_SHARE = 1 / 4;

interface HostCertificatesWish {
  /** Folders whose certificates the ingress presents. */
  readonly folders: readonly string[];
  /** Whether the provider itself gets certificates as leases come. */
  readonly isKept: boolean;
  readonly now: () => number;
}

/** Whether the certificates for host names can be used, and none ends soon. */
export function hostCertificatesCheck({ folders, isKept, now }: HostCertificatesWish): Check {
  return {
    name: "host certificates",
    fix: "fix the named file: until then the ingress does not present it",
    async look() {
      const certificates = new Certificates(folders);
      const [problem] = certificates.look().problems;
      if (problem !== undefined) throw new Error(problem);
      const [first] = certificates.presented.toSorted((one, other) => one.notAfter - other.notAfter);
      if (first === undefined) return none(folders, isKept);
      const left = first.notAfter - now();
      const least = Math.min(CERTIFICATE_DAYS * DAY_MS, (first.notAfter - first.notBefore) * LATE_SHARE);
      if (left < least) throw new Fault(`${first.files.certificate} ${ending(left)}`, renewal(isKept));
      return `names: ${certificates.names.length}; the first certificate ${ending(left)}`;
    },
  };
}

function none(folders: readonly string[], isKept: boolean): string {
  if (isKept) return "none yet: they are created when leases need them";
  const fix = "put pairs NAME.crt and NAME.key there, or see the provider guide for other ways";
  throw new Fault(`no certificate in ${folders.join(", ")}`, fix);
}

function ending(left: number): string {
  return left <= 0 ? "has ended" : `expires in ${Math.floor(left / DAY_MS)} days`;
}

function renewal(isKept: boolean): string {
  return isKept ? "see the log of the provider for why it is not renewed" : "renew it, or remove it";
}
