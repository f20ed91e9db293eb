import { join } from "node:path";
import { PHRASE_A, type Row, type TestHome } from "./home.ts";

const recover = (words: string): { input: string } => ({ input: `${words}\n` });
const KEY = "AxLZ24vr+sh4EwC/7P3mUCjdfn/ohvrFNsfRUTuz0pNm";
const ZEROS = "0".repeat(64);
const CURVE_ORDER = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";

/** Keys: names, phrases, paths, public keys, members, and where they are kept. */
export function keyRows(testHome: TestHome): readonly Row[] {
  return [...nameRows(testHome), ...originRows(testHome), ...showRows(testHome), ...keyringRows(testHome)];
}

function nameRows({ A }: TestHome): readonly Row[] {
  const names = [
    "",
    ".",
    "..",
    "../x",
    "a/../b",
    "x/..",
    "/etc/passwd",
    "a/",
    "a\u0000b",
    "a\nb",
    "\u202eb",
    "x".repeat(300),
    " a",
    "a ",
  ];
  return [
    ...names.map((name): Row => [["keys", "add", name], 1, "invalid key name"]),
    [["keys", "add", A], 1, "invalid key name"],
    [["keys", "rename", "a", "../b", "-y"], 1, "invalid key name"],
    [["keys", "rename", "a", "b", "-y"], 1, "already exists"],
    [["keys", "rename", "nobody", "x"], 1, "nobody is not a valid name or address"],
    [["keys", "rename", "a"], 2, "missing required argument 'new-name'"],
    [["keys", "add", "a"], 1, "aborted", { input: "n\n" }],
    [["keys", "add", "a"], 1, "standard input ended", { input: "" }],
    [["keys", "add", "a"], 1, "aborted", { input: "yes please\n" }],
  ];
}

function originRows({ A, tx, none, root, file }: TestHome): readonly Row[] {
  const add = (...flags: readonly string[]): string[] => ["keys", "add", "n", ...flags];
  const words = PHRASE_A.split(" ");
  const spaced = file("phrase.txt", "one two three\n", 0o600);
  return [
    [add("--recover"), 1, "invalid mnemonic", recover("abandon abandon")],
    [add("--recover"), 1, "invalid mnemonic", recover(words.slice(1).join(" "))],
    [add("--recover"), 1, "invalid mnemonic", recover([...words, "abandon"].join(" "))],
    [add("--recover"), 1, "invalid mnemonic", recover(words.with(11, "abandon").join(" "))],
    [add("--recover"), 1, "invalid mnemonic", recover(words.with(3, "abandonn").join(" "))],
    [add("--recover"), 1, "invalid mnemonic", recover(Array.from({ length: 25 }, () => "abandon").join(" "))],
    [add("--recover"), 1, "invalid mnemonic", recover("\u0000\u0001\u0002\u0003")],
    [add("--recover"), 1, "invalid mnemonic", recover("")],
    [add("--recover"), 1, "standard input ended"],
    [add("-i"), 1, "standard input ended"],
    [add("-i"), 1, "passphrases don't match", { input: `${PHRASE_A}\npassphrase one\npassphrase two\n` }],
    [add("--recover", "--source", none), 1, "cannot read the phrase file of --source"],
    [add("--recover", "--source", root), 1, "cannot read the phrase file of --source"],
    [add("--recover", "--source", spaced), 1, "invalid mnemonic"],
    [add("--source", tx), 2, "--source is used together with --recover"],
    [add("--algo", "ed25519"), 2, 'provided algorithm "ed25519" is not supported'],
    [add("--hd-path", "nonsense"), 1, "doesn't contain '/' separators"],
    [add("--hd-path", "m/44'/x"), 1, "x"],
    [add("--hd-path", "m/44'//0"), 1, "invalid BIP 32 path"],
    [add("--hd-path", "m/2147483648"), 1, "invalid BIP 32 path"],
    [add("--hd-path", "m/-1/0"), 1, "invalid BIP 32 path"],
    [add("--index", "-1"), 2, '--index takes a whole number, not "-1"'],
    [add("--index", "1.5"), 2, '--index takes a whole number, not "1.5"'],
    [add("--index", "0x10"), 2, '--index takes a whole number, not "0x10"'],
    [add("--index", "2147483648"), 1, "2147483648"],
    [add("--account", "99999999999999999999"), 2, "--account is too large"],
    [add("--coin-type", "bitcoin"), 2, '--coin-type takes a whole number, not "bitcoin"'],
    [add(), 2, 'SVC_INDEX takes a whole number, not "x"', { env: { SVC_INDEX: "x" } }],
    [add("--ledger", "--hd-path", "m/44'/118'/0'/0/0"), 2, "cannot set custom bip32 path with ledger"],
    [add("--ledger", "--recover"), 2, "--recover and --ledger cannot be used together"],
    [add("--ledger", "--account", "2147483648"), 1, "not a number below 2^31"],
    [add("--ledger", "--ledger-transport", "usb"), 2, '--ledger-transport: "usb": not an address of a hardware device'],
    [add("--ledger", "--ledger-transport", "tcp://127.0.0.1"), 2, "not an address of a hardware device"],
    [add("--ledger", "--ledger-transport", "tcp://127.0.0.1:1"), 1, "no hardware device was found"],
    [add("--ledger", "--ledger-transport", "http://127.0.0.1:1"), 1, "no hardware device was found"],
    [add("--ledger"), 2, 'SVC_LEDGER_TRANSPORT: "x"', { env: { SVC_LEDGER_TRANSPORT: "x" } }],
    [add("--pubkey", "{"), 2, "--pubkey:"],
    [add("--pubkey", "{}"), 2, "--pubkey:"],
    [add("--pubkey", `{"@type":"/cosmos.crypto.ed25519.PubKey","key":"${KEY}"}`), 2, "--pubkey"],
    [add("--pubkey", '{"@type":"/cosmos.crypto.secp256k1.PubKey","key":"AAAA"}'), 2, "--pubkey"],
    [add("--pubkey", A), 2, "expected svcpub"],
    [add("--pubkey", "svcpub1qqqq"), 2, "--pubkey"],
    [add("--pubkey-base64", "%%%"), 2, "--pubkey-base64:"],
    [add("--pubkey-base64", "AAAA"), 2, "--pubkey-base64:"],
    [add("--pubkey-base64", KEY, "--recover"), 2, "cannot be used together"],
    [add("--multisig", "a,b", "--recover"), 2, "--multisig and --recover cannot be used together"],
    [add("--multisig", "a,nobody"), 1, "nobody is not a valid name or address"],
    [add("--multisig", "a,a"), 2, "duplicate multisig keys: a"],
    [add("--multisig", "a,b", "--multisig-threshold", "3"), 1, "threshold k of n multisignature: 2 < 3"],
    [add("--multisig", "a,b", "--multisig-threshold", "0"), 1, "threshold must be a positive integer"],
    [
      add("--multisig", "a,b", "--multisig-threshold", "two"),
      2,
      '--multisig-threshold takes a whole number, not "two"',
    ],
    [["keys", "import-hex", "n", "1".repeat(64)], 2, "too many arguments"],
    [["keys", "import-hex", "1".repeat(64)], 2, "<name> is a private key"],
    [["keys", "import-hex", "n"], 1, "the private key is not valid", { input: "abcd\n" }],
    [["keys", "import-hex", "n"], 1, "the private key is not valid", { input: `${ZEROS}\n` }],
    [["keys", "import-hex", "n"], 1, "the private key is not valid", { input: `${CURVE_ORDER}\n` }],
    [["keys", "import-hex", "n"], 1, "the private key is not valid", { input: `${"z".repeat(64)}\n` }],
    [["keys", "import-hex", "n"], 1, "the private key is not valid", { input: "not hexadecimal\n" }],
    [["keys", "import-hex", "n"], 1, "standard input ended where an answer was expected"],
    [["keys", "import-hex", "a"], 1, "cannot overwrite key: a", { input: `${"1".repeat(64)}\n` }],
    [["keys", "import-hex", "../x"], 1, "invalid key name", { input: `${"1".repeat(64)}\n` }],
    [["keys", "mnemonic", "--unsafe-entropy"], 1, "256-bits is 43 characters", { input: "too short\n" }],
  ];
}

function showRows({ A, wrongSum }: TestHome): readonly Row[] {
  return [
    [["keys", "show"], 2, "missing required argument 'names'"],
    [["keys", "show", "nobody"], 1, "nobody is not a valid name or address"],
    [["keys", "show", ""], 1, "is not a valid name or address"],
    [["keys", "show", "../a"], 1, "../a is not a valid name or address"],
    [["keys", "show", wrongSum], 1, "checksum"],
    [["keys", "show", A.replace("svc1", "cosmos1")], 1, "is not a valid name or address"],
    [["keys", "show", "a", "nobody"], 1, "nobody is not a valid name or address"],
    [["keys", "show", "a", "b", "--multisig-threshold", "3"], 1, "threshold k of n multisignature: 2 < 3"],
    [["keys", "show", "a", "-a", "-p"], 2, "cannot use both --address and --pubkey at once"],
    [["keys", "show", "a", "-a", "-o", "json"], 2, "cannot use --output with --address or --pubkey"],
    [["keys", "show", "a", "-d"], 2, 'accounts stored in devices, "a" is local'],
    [["keys", "show", "a", "-d", "-p"], 2, "the device flag (-d) can only be used for addresses not pubkeys"],
    [["keys", "show", "a", "-d", "--bech", "val"], 2, "the device flag (-d) can only be used for accounts"],
    [["keys", "show", "a", "--bech", "xyz"], 2, "--bech takes acc, val, cons"],
    [["keys", "delete"], 2, "missing required argument 'names'"],
    [["keys", "delete", "nobody"], 1, "nobody is not a valid name or address"],
    [["keys", "delete", "nobody", "-y"], 1, "nobody is not a valid name or address"],
    [["keys", "parse", "nonsense"], 1, "couldn't find valid bech32 nor hex data"],
    [["keys", "parse", ""], 1, "couldn't find valid bech32 nor hex data"],
    [["keys", "parse", wrongSum], 1, "couldn't find valid bech32 nor hex data"],
    [["keys", "parse", "abc"], 1, "couldn't find valid bech32 nor hex data"],
  ];
}

function keyringRows({ file, none, tx, root }: TestHome): readonly Row[] {
  const home = (name: string): string => join(root, "keyrings", name);
  file("keyrings/torn/keyring-test/x.info", "eyJhbGciOi");
  file("keyrings/empty/keyring-test/x.info", "");
  const open = file("open-passphrase", "long enough passphrase\n", 0o644);
  const short = file("short-passphrase", "short\n", 0o600);
  const blank = file("blank-passphrase", "", 0o600);
  const inFile = (...words: readonly string[]): string[] => ["keys", "add", "n", "--keyring-backend", "file", ...words];
  return [
    [["keys", "list", "--keyring-backend", "kwallet"], 1, "keyring backend not available"],
    [["keys", "list", "--keyring-backend", "pass"], 1, "keyring backend not available"],
    [["keys", "migrate", none], 1, "key databases from before release 0.40 cannot be read"],
    [["keys", "list", "--keyring-kdf", "weak"], 2, "--keyring-kdf takes standard, strong"],
    [["keys", "list", "--keyring-backend", "os", "--keyring-service", "../x"], 1, "cannot name the keys of a tool"],
    [["keys", "add", "n", "--keyring-backend", "pass", "--keyring-service", " "], 1, "cannot name the keys of a tool"],
    [inFile(), 1, "standard input ended"],
    [inFile(), 1, "password must be at least 8 characters", { input: "short\n" }],
    [inFile(), 1, "passphrase do not match", { input: "first passphrase\nsecond passphrase\n" }],
    [inFile("--keyring-passphrase-file", none), 1, "does not exist"],
    [inFile("--keyring-passphrase-file", open), 1, "open-passphrase"],
    [inFile("--keyring-passphrase-file", short), 1, "passphrase"],
    [inFile("--keyring-passphrase-file", blank), 1, "passphrase"],
    [["keys", "list", "--home", home("torn")], 1, "x.info"],
    [["keys", "show", "x", "--home", home("torn")], 1, "x.info"],
    [["keys", "list", "--home", home("empty")], 1, "x.info"],
    [["keys", "add", "n", "--keyring-dir", tx], 1, tx],
    [["keys", "list", "--keyring-dir", tx], 1, tx],
    [["keys", "migrate", "--to", "yaml"], 2, "--to takes"],
  ];
}
