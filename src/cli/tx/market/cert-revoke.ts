import { type CertificateKind, certificatePath, readCertificateFile } from "../../../certs/index.ts";
import { MsgRevokeCertificateSchema } from "../../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { packAny } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { commandError, usageError } from "../../errors.ts";
import type { TxSession } from "../session/run.ts";
import { runTx } from "../session/run.ts";

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
