import { join } from "node:path";
import type { Row, TestHome } from "./home.ts";

/** Transactions: who, what, and for how much. Nothing is signed or sent before all of it is right. */
export function txRows(testHome: TestHome): readonly Row[] {
  return [...sendRows(testHome), ...certificateRows(testHome), ...marketRows(testHome)];
}

function sendRows({ A, B, wrongSum }: TestHome): readonly Row[] {
  const send = (...flags: readonly string[]): string[] => ["tx", "bank", "send", "a", B, "1utoken", ...flags];
  const amount = (text: string, expected: string): Row => [["tx", "bank", "send", "a", B, text], 2, expected];
  const OFFLINE = ["--offline", "--chain-id", "x-1"];
  return [
    [["tx", "bank", "send"], 2, "missing required argument"],
    [["tx", "bank", "send", "a", B], 2, "missing required argument 'amount'"],
    [["tx", "bank", "send", "nobody", B, "1utoken"], 1, "nobody is not a valid name or address"],
    [["tx", "bank", "send", "", B, "1utoken"], 2, "required flag --from is not set"],
    [["tx", "bank", "send", "a", wrongSum, "1utoken"], 2, "<to-address>"],
    [["tx", "bank", "send", "a", "b", "1utoken"], 2, "<to-address>"],
    amount("1", "<amount>: invalid coin"),
    amount("-5utoken", "unknown option"),
    amount("1.5utoken", "<amount>: invalid coin"),
    amount("0utoken", "is not an amount above zero"),
    amount("1utoken,2utoken", "<amount>: duplicate denomination utoken"),
    amount(`1${"0".repeat(90)}utoken`, "<amount>: the amount of"),
    amount("1utoken;rm", "<amount>: invalid coin"),
    amount("utoken", "<amount>: invalid coin"),
    amount("1 utoken x", "<amount>: invalid coin"),
    amount("", "<amount>"),
    amount(",", "<amount>"),
    [send("--timeout-height", "-1"), 2, "--timeout-height takes a whole number"],
    [send("--timeout-height", "18446744073709551616"), 2, "--timeout-height takes a whole number up to"],
    [send("-s", "18446744073709551616"), 2, "--sequence takes a whole number up to"],
    [send("-a", "18446744073709551616"), 2, "--account-number takes a whole number up to"],
    [send("--timeout-height", "soon"), 2, "--timeout-height takes a whole number"],
    [send("--gas", "9223372036854775808"), 2, "--gas"],
    [send("--gas", "-1"), 2, "--gas"],
    [send("--gas", "much"), 2, "--gas"],
    [send("--gas", "1.5"), 2, "--gas"],
    [send("--gas-adjustment", "-1"), 2, "--gas-adjustment"],
    [send("--gas-adjustment", "x"), 2, "--gas-adjustment"],
    [send("--gas-prices", "x"), 2, "--gas-prices: invalid price"],
    [send("--gas-prices", "-1utoken"), 2, "--gas-prices: invalid price"],
    [send("--fees", "x"), 2, "--fees: invalid coin"],
    [send("--fees", "1.5utoken"), 2, "--fees: invalid coin"],
    [send("--fees", "1utoken", "--gas-prices", "1utoken"), 2, "cannot provide both fees and gas prices"],
    [send("-a", "x"), 2, "--account-number takes a whole number"],
    [send("-s", "1.5"), 2, "--sequence takes a whole number"],
    [send("-b", "fast"), 2, "--broadcast-mode takes sync, async, block"],
    [send("--sign-mode", "textual"), 2, "--sign-mode takes direct, amino-json"],
    [send("--generate-only", "--dry-run"), 2, "--generate-only and --dry-run cannot be used together"],
    [send("--generate-only"), 2, "must provide a valid Bech32 address in generate-only mode"],
    [send(...OFFLINE), 2, "required flag --account-number is not set"],
    [send(...OFFLINE, "-a", "1"), 2, "required flag --sequence is not set"],
    [send("--offline", "-a", "1", "-s", "1"), 2, "required flag --chain-id is not set"],
    [send(...OFFLINE, "--dry-run"), 2, "--dry-run needs a node"],
    [send(...OFFLINE, "-a", "1", "-s", "1", "--gas", "auto"), 2, "cannot estimate gas in offline mode"],
    [send("--ledger"), 2, '--ledger: key "a" is not on a hardware device, its type is local'],
    [send("--ledger=perhaps"), 2, "--ledger takes true or false"],
    [send("--fee-payer", "x"), 2, "--fee-payer"],
    [send("--fee-granter", "x"), 2, "--fee-granter"],
    [send("--yes=perhaps"), 2, "--yes takes true or false"],
    [send(), 2, "SVC_GAS", { env: { SVC_GAS: "much" } }],
    [send(), 2, "SVC_FEES: invalid coin", { env: { SVC_FEES: "x" } }],
    [send(), 2, "SVC_BROADCAST_MODE takes sync, async, block", { env: { SVC_BROADCAST_MODE: "fast" } }],
    [send(), 2, "SVC_YES takes true or false", { env: { SVC_YES: "perhaps" } }],
    [send(), 1, "cannot reach the node"],
    [send("--node", "nonsense://"), 2, "invalid node address"],
    [["tx", "bank", "send", A, B, "1utoken", "--profile", "cosmos"], 2, "<to-address>: invalid Bech32 prefix"],
  ];
}

function certificateRows({ A }: TestHome): readonly Row[] {
  const server = (...hosts: readonly string[]): string[] => ["tx", "cert", "create", "server", ...hosts, "--from", "a"];
  const client = (...flags: readonly string[]): string[] => ["tx", "cert", "create", "client", "--from", "a", ...flags];
  const generate = ["tx", "cert", "create", "client", "--from", A, "--generate-only"];
  return [
    [server(), 2, "missing required argument 'hosts'"],
    [server("https://x"), 2, '"https://x" is neither a host name nor an IP address'],
    [server("a b"), 2, "neither a host name"],
    [server("-x.example"), 2, "unknown option"],
    [server("a..b"), 2, "neither a host name"],
    [server("x".repeat(300)), 2, "neither a host name"],
    [client("--naf", "soon"), 2, "--naf takes"],
    [client("--naf", "0d"), 2, "--naf"],
    [client("--naf", "2001-01-01T00:00:00Z"), 2, "--naf"],
    [client("--nbf", "soon"), 2, "--nbf takes"],
    [client("--nbf", "2030-01-01T00:00:00Z", "--naf", "2029-01-01T00:00:00Z"), 2, "would end before it begins"],
    [client("--to-genesis"), 1, "config/genesis.json: ENOENT"],
    [generate, 1, "at least 8 characters", { input: "short\n" }],
    [generate, 1, "passphrases don't match", { input: "long enough\nother one\n" }],
    [["tx", "cert", "revoke", "everything", "--from", "a"], 2, '<kind> is client or server, not "everything"'],
    [["tx", "cert", "revoke", "--from", "a", "--serial", "0x1"], 2, "--serial takes a decimal number"],
    [["tx", "cert", "revoke", "--from", "a"], 1, "there is no certificate file"],
    [["tx", "cert", "revoke"], 2, "required flag --from"],
  ];
}

function marketRows({ A, B, none, root, file }: TestHome): readonly Row[] {
  const sdl = join(import.meta.dirname, "../../../examples/web.yaml");
  const from = ["--from", "a"];
  const deploy = (...flags: readonly string[]): string[] => ["tx", "deployment", "create", sdl, ...from, ...flags];
  return [
    [deploy("--dseq", "0"), 2, "--dseq takes a whole number from 1"],
    [deploy("--dseq", "18446744073709551616"), 2, "--dseq takes a whole number from 1"],
    [deploy("--dseq", "x"), 2, "--dseq takes a whole number"],
    [deploy("--deposit", "x"), 2, "--deposit: invalid coin"],
    [deploy("--deposit", "0utoken"), 2, "--deposit"],
    [deploy("--owner", B), 2, `the owner ${B} must sign`],
    [deploy("--owner", "x"), 2, "--owner"],
    [["tx", "deployment", "create", sdl], 2, "required flag --from"],
    [["tx", "deployment", "create", none, ...from], 1, "cannot read the deployment file"],
    [["tx", "deployment", "create", root, ...from], 1, "cannot read the deployment file"],
    [["tx", "deployment", "create", file("empty.yaml", ""), ...from], 1, "empty.yaml:1:1"],
    [["tx", "deployment", "update", sdl, ...from], 2, "required flag --dseq"],
    [["tx", "deployment", "deposit", "0utoken", "--dseq", "1", ...from], 2, "<amount>"],
    [["tx", "deployment", "deposit", "1utoken,2stake", "--dseq", "1", ...from], 2, "<amount>"],
    [["tx", "deployment", "deposit", "1utoken", ...from], 2, "required flag --dseq"],
    [["tx", "deployment", "deposit", "1utoken", "--dseq", "1", "--owner", "x", ...from], 2, "owner"],
    [["tx", "escrow", "deposit", "deployment", "x", "--dseq", "1", ...from], 2, "<amount>"],
    [["tx", "deployment", "close", ...from], 2, "required flag --dseq"],
    [["tx", "deployment", "group", "pause", `group/${B}/1/1`, ...from], 2, "must sign"],
    [["tx", "deployment", "group", "start", "group/x", ...from], 2, "group"],
    [
      ["tx", "market", "lease", "create", "--dseq", "1", "--provider", B],
      2,
      "required flag --from is not set (or SVC_FROM)",
    ],
    [["tx", "market", "lease", "create", "--dseq", "1", ...from], 2, "required flag --provider"],
    [
      ["tx", "market", "lease", "create", "--dseq", "1", "--provider", "x", ...from],
      2,
      "--provider: invalid Bech32 prefix",
    ],
    [["tx", "market", "lease", "close", `lease/${A}/1/1`, ...from], 2, "lease"],
    [["tx", "market", "lease", "withdraw-all", "--ids", "x", ...from], 2, "--ids"],
    [
      ["tx", "market", "bid", "create", "--owner", A, "--dseq", "1", "--price", "x", ...from],
      2,
      "--price: invalid price",
    ],
    [["tx", "market", "bid", "create", "--owner", A, "--dseq", "1", ...from], 2, "required flag --price"],
    [["tx", "market", "bid", "create", "--dseq", "1", "--price", "1utoken", ...from], 2, "required flag --owner"],
    [["tx", "market", "bid", "close", "bid/x", ...from], 2, "bid"],
    [["tx", "audit", "attr", "create", B, "k", ...from], 2, 'the key "k" has no value'],
    [["tx", "audit", "attr", "create", B, "a b", "v", ...from], 2, 'invalid attribute key "a b"'],
    [["tx", "audit", "attr", "delete", "x", ...from], 2, "<provider>"],
    [["tx", "provider", "delete", ...from], 1, "cannot reach the node"],
    [["tx", "provider", "delete"], 2, "required flag --from"],
  ];
}
