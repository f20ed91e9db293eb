import { copyFileSync, existsSync } from "node:fs";
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
} from "../../node/index.ts";
import {
  DEFAULT_HD_PATH,
  EXIT,
  makePrivateDirectory,
  NATIVE_DENOM,
  PORT_STEP,
  replaceFile,
  shellWord,
  shiftedPorts,
} from "../../util/index.ts";
import { encodeAddress, printJson } from "../../wire/index.ts";
import { userPath } from "../command/home.ts";
import type { CommandInput, Run } from "../command/spec.ts";
import { keyringOptions } from "../context/context.ts";
import { cliKeyring } from "../context/keyring.ts";
import { commandError, usageError } from "../errors.ts";
import { homeKey, makeGenesisTx } from "./gentx.ts";
import { ONE_MACHINE, PRIVATE_NETWORK, writeSettingsFiles } from "./settings-files.ts";

const MAX_VALIDATORS = 100;
const MAX_PORT_OFFSET = 30_000;
/** Balance of each operator, and the bonded part. */
const COINS = 1_000_000_000_000n;
const BONDED = 100_000_000_000n;

/** A validator of the new chain. */
interface Member {
  readonly name: string;
  readonly home: string;
  readonly ip: string;
  readonly ports: ReturnType<typeof shiftedPorts>;
}

/** `testnet`: the homes of a new chain, each with the key of its operator; all have one genesis file. */
export const testnet: Run = async (input) => {
  const { flags, io } = input;
  const members = membersOf(input);
  const first = members[0];
  if (first === undefined) return EXIT.usage;
  const known = members.map(({ home }) => homePaths(home).genesis).find((path) => existsSync(path));
  const hint = "give another --output-dir, or remove the folders of its nodes";
  if (known !== undefined) throw commandError(`genesis.json file already exists: ${known}`, { hint });
  const time = BigInt(Date.now()) * 1_000_000n;
  let chainId = flags.optional("chain-id");
  for (const { name: moniker, home } of members) chainId = initHome({ home, moniker, chainId, time }).chain_id;
  writeSettings(members, flags.bool("single-machine"));
  const accounts = [];
  for (const member of members)
    accounts.push({ address: await addKey(input, member), coins: [{ denom: NATIVE_DENOM, amount: COINS }] });
  addGenesisAccounts(first.home, accounts);
  const directory = join(outputOf(input), "gentxs");
  makePrivateDirectory(directory);
  for (const member of members) await writeGentx(input, { member, first, directory });
  collectGenesisTxs(first.home, directory);
  validateGenesis(readGenesisText(first.home));
  for (const { home } of members.slice(1)) copyFileSync(homePaths(first.home).genesis, homePaths(home).genesis);
  io.err(`Successfully initialized ${members.length} node ${members.length === 1 ? "directory" : "directories"}\n`);
  io.err(startText(members, flags.bool("single-machine")));
  return EXIT.done;
};

function membersOf(input: CommandInput): Member[] {
  const { flags } = input;
  const count = flags.count("v");
  if (count < 1) throw usageError(`${flags.label("v")}: ${count} is not above zero`);
  if (count > MAX_VALIDATORS) throw usageError(`${flags.label("v")}: ${count} is more than ${MAX_VALIDATORS}`);
  const prefix = flags.text("node-dir-prefix");
  if (!/^[A-Za-z0-9_-]{1,50}$/.test(prefix))
    throw usageError(`${flags.label("node-dir-prefix")} takes letters, digits, - and _`);
  const placeOf = places(input);
  return Array.from({ length: count }, (_, i) => {
    const name = `${prefix}${i}`;
    return { name, home: join(outputOf(input), name, "svc"), ...placeOf(i) };
  });
}

/** Address and ports of each node: on machines of their own with addresses that follow each other, or on this one. */
function places({ flags }: CommandInput): (i: number) => Pick<Member, "ip" | "ports"> {
  const [start, offset] = [flags.text("starting-ip-address"), flags.count("port-offset")];
  if (!isIPv4(start)) throw usageError(`${flags.label("starting-ip-address")}: ${start} is not an IPv4 address`);
  if (offset > MAX_PORT_OFFSET)
    throw usageError(`${flags.label("port-offset")}: ${offset} is above ${MAX_PORT_OFFSET}`);
  if (flags.bool("single-machine")) return (i) => ({ ip: "127.0.0.1", ports: shiftedPorts(offset + i * PORT_STEP) });
  if (offset > 0) throw usageError(`${flags.label("port-offset")} needs --single-machine`, "give both, or neither");
  const [network, last] = [start.slice(0, start.lastIndexOf(".")), Number(start.split(".").at(-1))];
  return (i) => {
    const ip = `${network}.${last + i}`;
    if (!isIPv4(ip))
      throw usageError(`${flags.label("starting-ip-address")}: ${network} has no address for node ${i} after ${start}`);
    return { ip, ports: shiftedPorts(0) };
  };
}

function outputOf({ flags }: CommandInput): string {
  return resolve(userPath(flags.text("output-dir")));
}

const peerOf = ({ home, ip, ports }: Member): string => `${homeNodeId(home)}@${ip}:${ports.p2p}`;

/** Each node stays connected to all others. On one machine all listen on loopback, each at its own ports. */
function writeSettings(members: readonly Member[], isSingleMachine: boolean): void {
  for (const { name, home, ports } of members) {
    const others = members.filter((member) => member.home !== home);
    const given = { moniker: name, "p2p.persistent_peers": others.map(peerOf).join(",") };
    const at = (port: keyof typeof ports): string => `tcp://127.0.0.1:${ports[port]}`;
    const listeners = {
      "p2p.laddr": at("p2p"),
      "rpc.laddr": at("rpc"),
      "api.address": at("rest"),
      "grpc.address": at("grpc"),
      "instrumentation.prometheus-listen-addr": at("nodeMetrics"),
    };
    if (isSingleMachine) writeSettingsFiles(home, { ...given, ...listeners }, ONE_MACHINE);
    else writeSettingsFiles(home, given, others.length === 0 ? {} : PRIVATE_NETWORK);
  }
}

/** The commands that start the nodes. */
function startText(members: readonly Member[], isSingleMachine: boolean): string {
  const engine = members.length === 1 ? "" : " --engine cometbft";
  const lines = members.map(({ home, ip }) => {
    const command = `svc start${engine} --home ${shellWord(home)}\n`;
    return isSingleMachine ? command : `${ip.padEnd(15)}  ${command}`;
  });
  return `${isSingleMachine ? "Start each node" : "Copy each home to its machine, and start the node there"}:\n${lines.join("")}`;
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

interface GentxRequest {
  readonly member: Member;
  /** Its home has the accounts of all. */
  readonly first: Member;
  readonly directory: string;
}

async function writeGentx(input: CommandInput, { member, first, directory }: GentxRequest): Promise<void> {
  const { name, home } = member;
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
    home: first.home,
    profile,
    source: { profile, label: (field) => field, text: (field) => defaults[field] ?? "" },
    signer: { address, publicKey: key.publicKey, sign: (bytes) => keyring.sign(name, bytes) },
    memo: peerOf(member),
  });
  replaceFile(join(directory, `${name}.json`), `${text}\n`, 0o644);
}
