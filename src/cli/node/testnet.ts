import { isIPv4 } from "node:net";
import { join, resolve } from "node:path";
import { derivePrivateKey, generateMnemonic, mnemonicToSeed } from "../../crypto/index.ts";
import {
  addGenesisAccounts,
  collectGenesisTxs,
  homeNodeId,
  homePaths,
  initHome,
  readGenesisText,
  validateGenesis,
  writeGenesisText,
} from "../../node/index.ts";
import { DEFAULT_HD_PATH, EXIT, makePrivateDirectory, NATIVE_DENOM, replaceFile } from "../../util/index.ts";
import { encodeAddress, printJson } from "../../wire/index.ts";
import { userPath } from "../command/home.ts";
import type { CommandInput, Run } from "../command/spec.ts";
import { usageError } from "../errors.ts";
import { keyringOptions } from "../keys/flags.ts";
import { cliKeyring } from "../keys/keyring.ts";
import { homeKey, makeGenesisTx } from "./gentx.ts";
import { writeSettingsFiles } from "./settings-files.ts";

/** More homes than this are a mistake. */
const MAX_VALIDATORS = 100;
const P2P_PORT = 26_656;
/** What each operator has, and how much of it is bonded. */
const COINS = 1_000_000_000_000n;
const BONDED = 100_000_000_000n;

/** One validator of the new chain. */
interface Member {
  readonly name: string;
  readonly home: string;
  readonly ip: string;
}

/** `testnet`: the homes of a chain with several validators, in a directory each. */
export const testnet: Run = async (input) => {
  const { flags, io } = input;
  const members = membersOf(input);
  const time = BigInt(Date.now()) * 1_000_000n;
  const chainId = flags.optional("chain-id");
  const accounts = [];
  let madeId = chainId;
  for (const { name, home } of members) {
    ({ chain_id: madeId } = initHome({ home, moniker: name, chainId: madeId, time }));
    writeSettingsFiles(home, { moniker: name });
    accounts.push({ address: await addKey(input, { name, home }), coins: [{ denom: NATIVE_DENOM, amount: COINS }] });
  }
  const directory = join(outputOf(input), "gentxs");
  makePrivateDirectory(directory);
  for (const member of members) {
    addGenesisAccounts(member.home, accounts);
    await writeGentx(input, member, directory);
  }
  shareGenesis(members, directory);
  io.err(`Successfully initialized ${members.length} node directories\n`);
  return EXIT.done;
};

function membersOf(input: CommandInput): Member[] {
  const { flags } = input;
  const count = flags.count("v");
  if (count < 1 || count > MAX_VALIDATORS)
    throw usageError(`${flags.label("v")}: ${count} is not a number from 1 to ${MAX_VALIDATORS}`);
  const prefix = flags.text("node-dir-prefix");
  if (!/^[A-Za-z0-9_-]{1,50}$/.test(prefix))
    throw usageError(`${flags.label("node-dir-prefix")} takes letters, digits, - and _`);
  const first = flags.text("starting-ip-address");
  const parts = first.split(".").map(Number);
  const last = parts[3] ?? 0;
  if (!isIPv4(first) || last + count > 256)
    throw usageError(`${flags.label("starting-ip-address")}: ${first} is not the first of ${count} IPv4 addresses`);
  const directory = outputOf(input);
  return Array.from({ length: count }, (_, i) => ({
    name: `${prefix}${i}`,
    home: join(directory, `${prefix}${i}`, "svc"),
    ip: [...parts.slice(0, 3), last + i].join("."),
  }));
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

/** All homes begin with the same file. */
function shareGenesis(members: readonly Member[], directory: string): void {
  const [first, ...others] = members;
  if (first === undefined) return;
  collectGenesisTxs(first.home, directory);
  const text = readGenesisText(first.home);
  validateGenesis(text);
  for (const { home } of others) writeGenesisText(homePaths(home).home, text);
}
