import { create } from "@bufbuild/protobuf";
import { accountInfo, broadcastTx, type ChainClient, signaturePlace, simulateTx } from "../../../client/index.ts";
import type { KeyInfo } from "../../../keyring/index.ts";
import { equalBytes } from "../../../util/index.ts";
import { type SimulateResponse, SimulateResponseSchema } from "../../../wire/gen/sdk/tx/v1beta1/service_pb.js";
import { AuthInfoSchema, type Tx } from "../../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { SignMode, singleMode, toJson } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { type CliContext, createContext } from "../../context/context.ts";
import { commandError, usageError } from "../../errors.ts";
import { printResult } from "../../terminal/output.ts";
import { broadcastMode } from "../../values/gas.ts";
import { untilInterrupted } from "../session/hand-in.ts";
import { printTxResult } from "../session/print.ts";
import { readTxFile, txBytes } from "./file.ts";
import { addressBytes, signerKey, signersOf } from "./signing.ts";

/** `tx broadcast FILE`. It does not ask: the transaction is signed. */
export async function broadcastFile(input: CommandInput): Promise<number> {
  const { args, flags, io } = input;
  if (flags.bool("offline")) throw usageError("cannot broadcast tx during offline mode", "leave out --offline");
  const mode = broadcastMode(flags);
  const tx = await readTxFile(args[0] ?? "", io);
  if (tx.signatures.length === 0) {
    throw commandError("the transaction is not signed", { hint: "sign it first: svc tx sign <file> --from <key>" });
  }
  const context = createContext(input);
  const chain = await context.chain();
  const send = (signal: AbortSignal) => broadcastTx(chain, txBytes(tx), mode, { signal });
  return printTxResult(context, await untilInterrupted(context, chain, send));
}

/** `tx simulate FILE`: the gas that a transaction would use, signed or not. */
export async function simulateFile(input: CommandInput): Promise<void> {
  const tx = await readTxFile(input.args[0] ?? "", input.io);
  const context = createContext(input);
  printResult(toJson(SimulateResponseSchema, await simulated(context, tx, "from")), context.output, input.io);
}

/**
 * The chain's simulation of a transaction, signed or not. `keyFlag` names the key of a signer that has not signed on
 * this chain before: a multisig's gas differs from a single key's.
 */
export async function simulated(context: CliContext, tx: Tx, keyFlag?: string): Promise<SimulateResponse> {
  const chain = await context.chain();
  if (tx.signatures.length > 0) return simulateTx(chain, txBytes(tx));
  return simulateTx(chain, txBytes(await withPlaces(chain, tx, await givenKey(context, keyFlag))));
}

/** The key that a flag names; undefined for one that the keyring does not have. */
async function givenKey({ flags, keyring }: CliContext, flag: string | undefined): Promise<KeyInfo | undefined> {
  const name = flag === undefined ? undefined : flags.optional(flag);
  return name === undefined ? undefined : (await keyring()).find(name);
}

/** A place for each signature that is still missing, with the sequence that it will have. */
async function withPlaces(chain: ChainClient, tx: Tx, given: KeyInfo | undefined): Promise<Tx> {
  const fee = tx.authInfo?.fee;
  const places = await Promise.all(signersOf(tx).map((address) => placeOf(chain, address, given)));
  const signerInfos = places.map(({ publicKey, mode, sequence }) => ({
    ...(publicKey === undefined ? {} : { publicKey: signerKey(tx, publicKey) }),
    modeInfo: typeof mode === "number" ? singleMode(mode) : mode,
    sequence,
  }));
  const authInfo = create(AuthInfoSchema, { signerInfos, ...(fee === undefined ? {} : { fee }) });
  return { ...tx, authInfo, signatures: places.map(({ signature }) => signature) };
}

async function placeOf(chain: ChainClient, address: string, given: KeyInfo | undefined) {
  const { sequence, publicKey: known } = await accountInfo(chain.query, address);
  const isGiven = given !== undefined && equalBytes(given.address, addressBytes(address));
  const publicKey = isGiven ? given.publicKey : known;
  return { publicKey, sequence, ...signaturePlace(publicKey, SignMode.DIRECT) };
}
