import { rename } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import {
  type CertificateFile,
  type CertificateKind,
  type CertificatePlan,
  certificatePassphrase,
  certificatePath,
  chainRecord,
  makeCertificate,
  planCertificate,
  publicKeyPem,
  publishMessage,
  readCertificateFile,
  type Validity,
  writeCertificateFile,
} from "../../../certs/index.ts";
import type { TxResponse } from "../../../client/index.ts";
import type { NewCertificate } from "../../../crypto/index.ts";
import { newPassphraseFault, removeFile } from "../../../keyring/index.ts";
import {
  EXIT,
  errorText,
  MAX_GENESIS_BYTES,
  readFileText,
  replaceFile,
  toBase64,
  toUtf8,
} from "../../../util/index.ts";
import { MsgRevokeCertificateSchema } from "../../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import {
  type Any,
  isArray,
  isObject,
  type JsonObject,
  packAny,
  parseTimestamp,
  printJson,
  readJson,
  toNanos,
} from "../../../wire/index.ts";
import type { Flags } from "../../command/flags.ts";
import type { CommandInput } from "../../command/spec.ts";
import { type CliContext, createContext } from "../../context/context.ts";
import { newSecret } from "../../context/keyring.ts";
import { commandError, usageError } from "../../errors.ts";
import { signerOf } from "../../keys/signer.ts";
import { finishTx, openTx, runTx, type TxHooks, type TxSession } from "../session/run.ts";

/** Options of `tx cert create`. */
export interface CertificateOrder {
  readonly kind: CertificateKind;
  readonly hosts: readonly string[];
  readonly validity: Validity;
  /** Revoke a valid one and make a new one. */
  readonly replace: boolean;
}

/** `tx cert create server HOST...` and `tx cert create client`: converges on one published certificate. */
export async function certCreate(kind: CertificateKind, input: CommandInput): Promise<number> {
  const hosts = kind === "server" ? input.args.map(checkHost) : [];
  const { flags } = input;
  const order = { kind, hosts, validity: readValidity(flags, Date.now()), replace: flags.bool("rie") };
  const session = await openTx(createContext(input));
  await adoptPending(session, order);
  const plan = await makePlan(session, order);
  input.io.err(`${plan.say}\n`);
  if (plan.kind === "keep") return EXIT.done;
  const certificate = await obtainCertificate(session, plan, order);
  if (flags.bool("to-genesis")) return toGenesis(session, order.kind, certificate);
  return finishTx(
    session,
    certificateMessages(session.sender.address, plan, certificate),
    hooksFor(session, plan, { order, certificate }),
  );
}

const HOST = /^(?:\*\.)?[a-zA-Z0-9_](?:[a-zA-Z0-9_.-]{0,251}[a-zA-Z0-9])?$/;

function checkHost(host: string): string {
  if (isIP(host) !== 0 || (HOST.test(host) && !host.includes(".."))) return host;
  throw usageError(
    `<hosts>: "${host.slice(0, 80)}" is neither a host name nor an IP address`,
    "leave out scheme and port: provider.example.com",
  );
}

/** The published halves of a certificate and its encrypted key. */
type CertificateParts = Pick<NewCertificate, "certificate" | "publicKey" | "encryptedKey">;

async function makePlan(session: TxSession, { kind, hosts, replace }: CertificateOrder): Promise<CertificatePlan> {
  const { context, settings, sender } = session;
  const file = await readCertificateFile(certificatePath(context.home, sender.address, kind));
  if (file !== undefined) checkOwner(file, sender.address);
  const offline = settings.offline || context.flags.bool("to-genesis");
  if (file !== undefined && settings.offline) {
    const hint = "leave out --offline, or move the file away";
    throw commandError(`${file.path} exists, and without a node we cannot know whether the chain has it`, { hint });
  }
  const record =
    file === undefined || offline ? "missing" : await chainRecord(await session.chain(), sender.address, file);
  return planCertificate({ address: sender.address, file, record, hosts, replace, now: Date.now() / 1000 });
}

function checkOwner({ path, details }: CertificateFile, address: string): void {
  if (details.commonName === address) return;
  throw commandError(`certificate file ${path} belongs to ${details.commonName}`, { hint: "move the file away" });
}

async function obtainCertificate(
  session: TxSession,
  plan: CertificatePlan,
  order: CertificateOrder,
): Promise<CertificateParts> {
  if (plan.kind !== "new") return { ...plan.file, publicKey: publicKeyPem(plan.file.details) };
  const { hosts, validity } = order;
  return makeCertificate({ address: session.sender.address, hosts, validity }, await keyPassphrase(session));
}

/** The passphrase comes from the account key, or from the user if the keyring is not opened. */
async function keyPassphrase({ context, sender }: TxSession): Promise<string> {
  if (sender.key !== undefined) return certificatePassphrase(await signerOf(context, sender));
  if (context.flags.bool("dry-run")) return "not kept";
  const passphrase = await newSecret("Enter passphrase to encrypt the certificate's key:", context.io);
  const fault = newPassphraseFault(passphrase);
  if (fault !== undefined) throw commandError(fault, { hint: "type another one" });
  if ((await newSecret("Repeat the passphrase:", context.io)) !== passphrase)
    throw commandError("passphrases don't match", { hint: "type the same passphrase twice" });
  return passphrase;
}

function certificateMessages(
  owner: string,
  plan: CertificatePlan,
  { certificate, publicKey }: CertificateParts,
): Any[] {
  const create = publishMessage(owner, { certificate, publicKey });
  const serial = plan.kind === "new" ? plan.revoke : undefined;
  return serial === undefined ? [create] : [packAny(MsgRevokeCertificateSchema, { id: { owner, serial } }), create];
}

/** A new certificate has this name until the node has accepted its transaction; then it replaces the old one. */
function pendingPath(context: CliContext, address: string, kind: CertificateKind): string {
  return `${certificatePath(context.home, address, kind)}.new`;
}

/** A file of an interrupted run takes the final name if that is free, or if the chain has the certificate. */
async function adoptPending(
  { context, settings, sender, chain }: TxSession,
  { kind }: CertificateOrder,
): Promise<void> {
  const pending = await readCertificateFile(pendingPath(context, sender.address, kind));
  if (pending === undefined || settings.offline || settings.purpose === "estimate") return;
  const path = certificatePath(context.home, sender.address, kind);
  const inTheWay = (await readCertificateFile(path)) !== undefined;
  if (inTheWay && (await chainRecord(await chain(), sender.address, pending)) !== "valid") return;
  await rename(pending.path, path);
  context.io.err(`certificate ${pending.details.serial} of an earlier run is now ${path}\n`);
}

interface Made {
  readonly order: CertificateOrder;
  readonly certificate: CertificateParts;
}

function hooksFor(session: TxSession, plan: CertificatePlan, { order, certificate }: Made): TxHooks {
  if (plan.kind !== "new") return {};
  const { context, settings, sender } = session;
  const path = certificatePath(context.home, sender.address, order.kind);
  const pending = pendingPath(context, sender.address, order.kind);
  const onSigned = async (): Promise<void> => {
    await writeCertificateFile(pending, certificate);
    if (settings.purpose === "send") return;
    if ((await readCertificateFile(path)) === undefined) return rename(pending, path);
    context.io.err(`the new certificate is in ${pending}; run this command again when its transaction is committed\n`);
  };
  const onAnswer = async ({ code }: TxResponse): Promise<void> => {
    if (code !== 0) return removeFile(pending);
    await rename(pending, path);
    context.io.err(`certificate saved in ${path}\n`);
  };
  return { onSigned, onAnswer };
}

async function toGenesis(
  { context, sender }: TxSession,
  kind: CertificateKind,
  certificate: CertificateParts,
): Promise<number> {
  const genesis = await addToGenesis(context.home, sender.address, certificate);
  const path = certificatePath(context.home, sender.address, kind);
  await writeCertificateFile(path, certificate);
  context.io.err(`certificate saved in ${path} and added to ${genesis}\n`);
  return EXIT.done;
}

const DAY_MS = 24 * 3600 * 1000;
const DEFAULT_DAYS = 365;
/** X.509 times have four digits for the year. */
const LAST_YEAR_MS = Date.UTC(9999, 11, 31);

/** `--nbf` and `--naf`: from when to when a certificate is valid; from now for a year when left out. */
export function readValidity(flags: Flags, nowMs: number): Validity {
  const begin = flags.optional("nbf");
  const end = flags.optional("naf");
  const notBefore = wholeSeconds(begin === undefined ? nowMs : readTime(begin, "nbf"));
  const notAfter = wholeSeconds(end === undefined ? notBefore + DEFAULT_DAYS * DAY_MS : readEnd(end, notBefore));
  if (notAfter <= notBefore) throw usageError("--naf: the certificate would end before it begins");
  if (notAfter <= nowMs) throw usageError("--naf: the certificate would have expired already");
  if (notAfter > LAST_YEAR_MS) throw usageError("--naf: the end is too far away");
  return { notBefore, notAfter };
}

function readEnd(text: string, notBefore: number): number {
  const days = /^(\d{1,6})d$/.exec(text)?.[1];
  return days === undefined ? readTime(text, "naf") : notBefore + Number(days) * DAY_MS;
}

function readTime(text: string, flag: string): number {
  const time = parseTimestamp(text);
  if (time !== undefined) return Number(toNanos(time) / 1_000_000n);
  const form = flag === "naf" ? "<n>d or a time such as 2027-01-31T12:00:00Z" : "a time such as 2027-01-31T12:00:00Z";
  throw usageError(`--${flag} takes ${form}, not "${text.slice(0, 64)}"`);
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

/** Adds a certificate to the genesis file of a home; returns the file's path. */
async function addToGenesis(
  home: string,
  owner: string,
  { certificate, publicKey }: Pick<NewCertificate, "certificate" | "publicKey">,
): Promise<string> {
  const path = join(home, "config", "genesis.json");
  const genesis = await readGenesis(path);
  const state = objectIn(genesis, "app_state", path);
  const cert = isObject(state.cert) ? state.cert : {};
  const entry = {
    owner,
    certificate: { state: "valid", cert: toBase64(toUtf8(certificate)), pubkey: toBase64(toUtf8(publicKey)) },
  };
  const certificates = [...(isArray(cert.certificates) ? cert.certificates : []), entry];
  const changed = { ...genesis, app_state: { ...state, cert: { ...cert, certificates } } };
  replaceFile(path, `${printJson(changed, { escapeHtml: false, indent: 2 })}\n`);
  return path;
}

async function readGenesis(path: string): Promise<JsonObject> {
  try {
    const genesis = readJson(readFileText(path, { maxBytes: MAX_GENESIS_BYTES }));
    if (isObject(genesis)) return genesis;
    throw new Error("it is not a JSON object");
  } catch (error) {
    throw commandError(`genesis file ${path}: ${errorText(error)}`, {
      hint: "make one with: svc init <moniker>",
      cause: error,
    });
  }
}

function objectIn(genesis: JsonObject, name: string, path: string): JsonObject {
  const value = genesis[name];
  if (isObject(value)) return value;
  throw commandError(`genesis file ${path} has no ${name}`, { hint: "make one with: svc init <moniker>" });
}

const KINDS: readonly CertificateKind[] = ["client", "server"];

/** `tx cert revoke [client|server] [--serial N]`. */
export async function certRevoke(input: CommandInput): Promise<number> {
  const { args, flags } = input;
  const given = flags.optional("serial");
  if (given !== undefined && !/^[1-9]\d{0,59}$/.test(given))
    throw usageError(`--serial takes a decimal number, not "${given.slice(0, 64)}"`);
  const kinds = readKinds(args[0]);
  return runTx(input, async (session) => {
    const serial = given ?? (await serialOfFile(session, kinds));
    input.io.err(`revoking certificate ${serial}...\n`);
    return [packAny(MsgRevokeCertificateSchema, { id: { owner: session.sender.address, serial } })];
  });
}

function readKinds(text: string | undefined): readonly CertificateKind[] {
  if (text === undefined) return KINDS;
  const kind = KINDS.find((each) => each === text);
  if (kind === undefined) throw usageError(`<kind> is client or server, not "${text.slice(0, 64)}"`);
  return [kind];
}

/** The certificate in the only file. */
async function serialOfFile({ context, sender }: TxSession, kinds: readonly CertificateKind[]): Promise<string> {
  const paths = kinds.map((kind) => certificatePath(context.home, sender.address, kind));
  const files = (await Promise.all(paths.map(readCertificateFile))).filter((file) => file !== undefined);
  const [file, other] = files;
  if (file === undefined) {
    const hint = `name it with --serial: svc query cert list --owner ${sender.address}`;
    throw commandError(`there is no certificate file ${paths.join(" or ")}`, { hint });
  }
  if (other !== undefined)
    throw usageError("there are a client and a server certificate", "name one: svc tx cert revoke client|server");
  return file.details.serial;
}
