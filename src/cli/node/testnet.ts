import { isIPv4 } from "node:net";
import { join, resolve } from "node:path";
import { derivePrivateKey, generateMnemonic, mnemonicToSeed } from "../../crypto/index.ts";
import {
  addGenesisAccounts,
  collectGenesisTxs,
  homeNodeId,
  initHome,
  readGenesisText,
  validateGenesis,
} from "../../node/index.ts";
import { DEFAULT_HD_PATH, EXIT, makePrivateDirectory, NATIVE_DENOM, replaceFile } from "../../util/index.ts";
import { encodeAddress, printJson } from "../../wire/index.ts";
import { userPath } from "../command/home.ts";
import type { CommandInput, Run } from "../command/spec.ts";
import { keyringOptions } from "../context/context.ts";
import { cliKeyring } from "../context/keyring.ts";
import { usageError } from "../errors.ts";
import { homeKey, makeGenesisTx } from "./gentx.ts";
import { writeSettingsFiles } from "./settings-files.ts";

/** The engine signs with one key: several homes would each make a chain of their own, with one chain id. */
const MAX_VALIDATORS = 1;
const P2P_PORT = 26_656;
/** Balance of each operator, and the bonded part. */
const COINS = 1_000_000_000_000n;
const BONDED = 100_000_000_000n;

/** The validator of the new chain. */
interface Member {
  readonly name: string;
  readonly home: string;
  readonly ip: string;
}

/** `testnet`: the home of a new chain, with the key of its operator and its genesis transaction. */
export const testnet: Run = async (input) => {
  const { flags, io } = input;
  const member = memberOf(input);
  const { name, home } = member;
  const time = BigInt(Date.now()) * 1_000_000n;
  initHome({ home, moniker: name, chainId: flags.optional("chain-id"), time });
  writeSettingsFiles(home, { moniker: name });
  addGenesisAccounts(home, [{ address: await addKey(input, member), coins: [{ denom: NATIVE_DENOM, amount: COINS }] }]);
  const directory = join(outputOf(input), "gentxs");
  makePrivateDirectory(directory);
  await writeGentx(input, member, directory);
  collectGenesisTxs(home, directory);
  validateGenesis(readGenesisText(home));
  io.err("Successfully initialized 1 node directory\n");
  return EXIT.done;
};

function memberOf(input: CommandInput): Member {
  const { flags } = input;
  const count = flags.count("v");
  if (count < 1) throw usageError(`${flags.label("v")}: ${count} is not above zero`);
  if (count > MAX_VALIDATORS)
    throw usageError(
      `${flags.label("v")}: a chain of this version has one validator, not ${count}: nodes do not connect to each other`,
      "leave it out, or give 1",
    );
  const prefix = flags.text("node-dir-prefix");
  if (!/^[A-Za-z0-9_-]{1,50}$/.test(prefix))
    throw usageError(`${flags.label("node-dir-prefix")} takes letters, digits, - and _`);
  const ip = flags.text("starting-ip-address");
  if (!isIPv4(ip)) throw usageError(`${flags.label("starting-ip-address")}: ${ip} is not an IPv4 address`);
  const name = `${prefix}0`;
  return { name, home: join(outputOf(input), name, "svc"), ip };
}

function outputOf({ flags }: CommandInput): string {
  return resolve(userPath(flags.text("output-dir")));
}

function keyringOf({ flags, io }: CommandInput, home: string) {
  return cliKeyring({ ...keyringOptions({ flags }), home, keyringDir: home }, io);
}

/** Makes the operator's key, whose phrase is kept beside it as the reference does. Returns its address. */
async function addKey(input: CommandInput, { name, home }: Pick<Member, "name" | "home">): Promise<string> {
  const secret = await generateMnemonic();
  replaceFile(join(home, "key_seed.json"), `${printJson({ secret })}\n`);
  const privateKey = await derivePrivateKey(await mnemonicToSeed(secret), DEFAULT_HD_PATH);
  const { address } = await keyringOf(input, home).addLocal(name, privateKey);
  return encodeAddress(address);
}

async function writeGentx(input: CommandInput, { name, home, ip }: Member, directory: string): Promise<void> {
  const keyring = keyringOf(input, home);
  const key = await keyring.find(name);
  if (key === undefined) throw new Error(`the keyring of ${home} has the key ${name}`);
  const address = encodeAddress(key.address);
  const defaults: Readonly<Record<string, string>> = {
    amount: `${BONDED}${NATIVE_DENOM}`,
    pubkey: homeKey(home, undefined),
    moniker: name,
    "commission-rate": "0.1",
    "commission-max-rate": "0.2",
    "commission-max-change-rate": "0.01",
    "min-self-delegation": "1",
  };
  const { profile } = input.flags;
  const text = await makeGenesisTx({
    home,
    profile,
    source: { profile, label: (field) => field, text: (field) => defaults[field] ?? "" },
    signer: { address, publicKey: key.publicKey, sign: (bytes) => keyring.sign(name, bytes) },
    memo: `${homeNodeId(home)}@${ip}:${P2P_PORT}`,
  });
  replaceFile(join(directory, `${name}.json`), `${text}\n`, 0o644);
}
