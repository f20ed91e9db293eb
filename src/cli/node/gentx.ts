import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { bodyFor, DEFAULT_GAS, feeFor, signTx, type TxSigner } from "../../client/index.ts";
import {
  checkGenesisTx,
  collectGenesisTxs,
  gentxDirectory,
  homeNodeId,
  homeValidatorKey,
  readGenesisText,
  validateGenesis,
} from "../../node/index.ts";
import { EXIT, type IntCoin, makePrivateDirectory, parseCoins, replaceFile } from "../../util/index.ts";
import { MsgCreateValidatorSchema } from "../../wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { TxSchema } from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import {
  decodeTx,
  fromJson,
  type JsonValue,
  packAny,
  printJson,
  publicKeyToAny,
  readJson,
  SignMode,
  sortJson,
  toJson,
} from "../../wire/index.ts";
import { inArgument } from "../command/in-flag.ts";
import type { NetworkProfile } from "../command/profile.ts";
import type { Run } from "../command/spec.ts";
import { createContext } from "../context/context.ts";
import { usageError } from "../errors.ts";
import { modeForKey, requireSigningKey, signerOf } from "../keys/signer.ts";
import { txJson } from "../tx/session/print.ts";
import { operatorOf, readValidator, type Source } from "../tx/staking/validator.ts";
import { parseGas } from "../values/gas.ts";
import { readSettingsFiles } from "./settings-files.ts";

const FILE_MODE = 0o644;

/** `gentx <key> <amount>`: writes the transaction that creates a validator of the first block to a file. */
export const gentx: Run = async (input) => {
  const { args, flags, io } = input;
  const [name = "", amount = ""] = args;
  const context = createContext(input);
  const { home, profile } = context;
  const genesis = validateGenesis(readGenesisText(home));
  const chainId = flags.optional("chain-id") ?? genesis.chainId;
  if (chainId !== genesis.chainId)
    throw usageError(`${flags.label("chain-id")}: the genesis file is that of ${genesis.chainId}, not of ${chainId}`);
  const sender = await requireSigningKey(context, name);
  const nodeId = flags.optional("node-id") ?? homeNodeId(home);
  const own = homeKey(home, flags.optional("pubkey"));
  const moniker = flags.optional("moniker") ?? (monikerOf(home) || genesis.validators[0]?.name || name);
  const source: Source = {
    profile,
    label: (field) => (field === "amount" ? "<amount>" : flags.label(field)),
    text: (field) => {
      if (field === "amount") return amount;
      if (field === "pubkey") return own;
      return field === "moniker" ? moniker : flags.text(field);
    },
  };
  const gas = parseGas(flags.text("gas"));
  if (gas === "auto") throw usageError("--gas: there is no chain yet that could estimate it", "leave it out");
  const text = await makeGenesisTx({
    home,
    profile,
    source,
    gas,
    fees: inArgument("fees", () => parseCoins(flags.text("fees"))),
    signMode: modeForKey(context, SignMode.DIRECT, sender.key),
    signer: await signerOf(context, sender),
    memo: memoOf(flags, nodeId),
  });
  const path = flags.optional("output-document") ?? join(gentxDirectory(home), `gentx-${nodeId}.json`);
  if (flags.optional("output-document") === undefined) makePrivateDirectory(gentxDirectory(home));
  replaceFile(path, `${text}\n`, FILE_MODE);
  io.err(`Genesis transaction written to ${JSON.stringify(path)}\n`);
  return EXIT.done;
};

/** The parts of a transaction of a first validator. */
interface GenesisTxParts {
  readonly home: string;
  readonly profile: NetworkProfile;
  readonly source: Source;
  readonly signer: TxSigner;
  readonly memo: string;
  readonly gas?: bigint;
  readonly fees?: readonly IntCoin[];
  readonly signMode?: SignMode;
}

/** The signed transaction as JSON, after a trial start of the chain of the home's genesis file with it. */
export async function makeGenesisTx(parts: GenesisTxParts): Promise<string> {
  const { home, profile, source, signer, memo, gas = DEFAULT_GAS, fees = [], signMode = SignMode.DIRECT } = parts;
  const message = packAny(MsgCreateValidatorSchema, {
    ...readValidator(source),
    delegatorAddress: signer.address,
    validatorAddress: operatorOf(signer.address, profile),
  });
  const { chainId } = validateGenesis(readGenesisText(home));
  const signed = await signTx(
    {
      bodyBytes: bodyFor([message], { memo }, profile.namespace),
      fee: feeFor(gas, { fees }),
      signMode,
      // Before the first block all accounts have the number 0.
      signer: { chainId, accountNumber: 0n, sequence: 0n, aminoNames: profile.aminoNames },
      namespace: profile.namespace,
    },
    signer,
  );
  const { bodyBytes, authInfoBytes, signatures } = decodeTx(signed, { foreign: true }).raw;
  const text = txJson({ bodyBytes, authInfoBytes }, signatures);
  checkGenesisTx(home, fromJson(TxSchema, readJson(text)));
  return text;
}

/** The address at which others find the node, in the reference's form. */
function memoOf(flags: { text(name: string): string; optional(name: string): string | undefined }, nodeId: string) {
  return `${nodeId}@${flags.optional("ip") ?? externalAddress()}:${flags.text("p2p-port")}`;
}

/** The first address under which other machines may reach this one. */
function externalAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return all.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "127.0.0.1";
}

/** The key with which the node of the home signs blocks, unless another one is given. */
export function homeKey(home: string, given: string | undefined): string {
  if (given !== undefined) return given;
  return printJson(toJson(AnySchema, publicKeyToAny({ type: "ed25519", key: homeValidatorKey(home) })));
}

/** The name of the home's node; its genesis file may come from another one. */
function monikerOf(home: string): string {
  return readSettingsFiles(home).get("moniker") ?? "";
}

/** `collect-gentxs`: puts the transactions of all validators into the genesis file. */
export const collectGentxs: Run = async (input) => {
  const { home } = createContext(input);
  const { app_message, ...summary } = collectGenesisTxs(home, input.flags.optional("gentx-dir"));
  const json: JsonValue = { ...summary, moniker: monikerOf(home) || summary.moniker, app_message };
  input.io.err(`${printJson(sortJson(json))}\n`);
};
