import type { Row, TestHome } from "./home.ts";

/** Words and flags, whatever the command. */
export function wordRows({ A, B, none }: TestHome): readonly Row[] {
  return [
    [["frobnicate"], 2, 'unknown command "frobnicate" for "svc"'],
    [[""], 2, 'unknown command "" for "svc"'],
    [["KEYS", "list"], 2, 'unknown command "KEYS"'],
    [["\u001b[2J"], 2, "\\u001b[2J"],
    [["query", "bnk"], 2, 'did you mean "bank"?'],
    [["tx", "bank", "sned", A], 2, 'did you mean "send"?'],
    [["stauts"], 2, 'did you mean "status"?'],
    [["--node", "x", "qurey", "bank"], 2, 'did you mean "query"?'],
    [["completion", "tcsh"], 2, 'unknown command "tcsh" for "svc completion"'],
    [["keys", "add"], 2, "missing required argument 'name'"],
    [["keys", "list", "extra"], 2, "too many arguments"],
    [["version", "extra"], 2, "too many arguments"],
    [["status", "extra"], 2, "too many arguments"],
    [["keys", "list", "--frm", "a"], 2, "unknown option '--frm'"],
    [["keys", "list", "--outptu", "json"], 2, "did you mean --output?"],
    [["keys", "list", "-Q"], 2, "unknown option '-Q'"],
    [["keys", "list", "--home"], 2, "argument missing"],
    [["keys", "list", "-o"], 2, "argument missing"],
    [["--home"], 2, "--home <dir>' argument missing"],
    [["--frobnicate"], 2, "unknown option '--frobnicate'"],
    [["keys", "--outpt", "json"], 2, "did you mean --output?"],
    [["keys", "-Q"], 2, "unknown option '-Q'"],
    [["keys", "list", "-o", "yaml"], 2, '--output takes text, json, not "yaml"'],
    [["keys", "list", "-oyaml"], 2, '--output takes text, json, not "yaml"'],
    [["keys", "list", "--output="], 2, '--output takes text, json, not ""'],
    [["keys", "list", "-o", "JSON"], 2, '--output takes text, json, not "JSON"'],
    [["keys", "list", "-o", "json", "-o", "xml"], 2, '--output takes text, json, not "xml"'],
    [["keys", "list", "--keyring-backend", "vault"], 2, "--keyring-backend takes os, file"],
    [["keys", "list", "--keyring-backend", "TEST"], 2, "--keyring-backend takes os, file"],
    [["keys", "list", "--log_level", "loud"], 2, "--log_level takes trace, debug"],
    [["keys", "list", "--log-level", "loud"], 2, "--log_level takes trace, debug"],
    [["keys", "list", "--log_format", "xml"], 2, "--log_format takes plain, json"],
    [["keys", "list", "--trace=maybe"], 2, '--trace takes true or false, not "maybe"'],
    [["keys", "delete", "a", "--yes="], 2, '--yes takes true or false, not ""'],
    [["keys", "list", "--profile", "x"], 2, '--profile: there is no profile "x"'],
    [["keys", "list"], 2, "SVC_OUTPUT takes text, json", { env: { SVC_OUTPUT: "yaml" } }],
    [["keys", "list"], 2, "SVC_LOG_LEVEL takes trace, debug", { env: { SVC_LOG_LEVEL: "loud" } }],
    [["keys", "list"], 2, "SVC_LOG_FORMAT takes plain, json", { env: { SVC_LOG_FORMAT: "xml" } }],
    [["keys", "list"], 2, "SVC_KEYRING_BACKEND takes os, file", { env: { SVC_KEYRING_BACKEND: "vault" } }],
    [["keys", "list"], 2, "SVC_TRACE takes true or false", { env: { SVC_TRACE: "maybe" } }],
    [["keys", "list"], 2, 'SVC_PROFILE: there is no profile "x"', { env: { SVC_PROFILE: "x" } }],
    ...longRows(),
    ...hintRows(B),
    [["keys", "add", "caf\ufffd"], 2, "word 3 of the command line is not UTF-8 text"],
    [["keys", "import-hex", "x", "hunter2\ufffd"], 2, "word 4 of the command line is not UTF-8 text"],
    [["query", "bank", "total", "--denom=\ufffd"], 2, "word 4 of the command line is not UTF-8 text"],
    [["status"], 2, "SVC_NODE is not UTF-8 text", { env: { SVC_NODE: "\ufffd" } }],
    [["status", "--node", "http://"], 2, "invalid node address"],
    [["status", "--node", "http://user:pw@h"], 2, "invalid node address"],
    [["status", "--node", "127.0.0.1:99999"], 2, "invalid node address"],
    [["status", "--node", "ftp://127.0.0.1"], 2, "invalid node address"],
    [["status", "--node", " "], 2, "invalid node address"],
    [["status", "--node", "http://h?x=1"], 2, "invalid node address"],
    [["status", "--node", "[::1"], 2, "invalid node address"],
    [["status"], 2, "invalid node address", { env: { SVC_NODE: "unix:///run/x" } }],
    [["status"], 1, "cannot reach the node at http://127.0.0.1:1: connection refused"],
    [
      ["status", "--node", "no-such-host.invalid:26657"],
      1,
      "cannot reach the node at http://no-such-host.invalid:26657",
    ],
    [["status", "--home", none, "-o", "csv"], 2, "--output takes text, json"],
    [["debug", "addr", "zz"], 2, "<address>: decoding bech32 failed"],
    [["debug", "addr", "abcd"], 2, "<address>: an address has 20 or 32 bytes, not 2"],
    [["debug", "pubkey", "{}"], 2, "<key>: the type of the key is not known"],
    [["debug", "pubkey", "[1]"], 2, "<key>:"],
    [["debug", "raw-bytes", "[256]"], 2, '<bytes>: "256" is not a number'],
    [["debug", "raw-bytes", "1.5"], 2, '<bytes>: "1.5" is not a number'],
  ];
}

/** Words far longer than any real one: the refusal stays short enough to be read. */
function longRows(): readonly Row[] {
  const long = "x".repeat(100_000);
  return [
    [[long], 2, `unknown command "${"x".repeat(100)}..."`],
    [["keys", "show", long], 1, `${"x".repeat(100)}... is not a valid name or address`],
    [["query", "bank", "total", "--limit", long], 2, `--limit takes a whole number, not "${"x".repeat(100)}..."`],
    [["query", "bank", "total", `--${long}`], 2, "unknown option"],
    [["query", "bank", "total", "--node", long], 2, "invalid node address"],
    [["keys", "list", "--home", `/${long}`], 1, "ENAMETOOLONG"],
    [["tx", "encode", `/${long}`], 1, "cannot read the transaction file"],
  ];
}

/** Mistakes whose usual reason is not what the command line literally says. */
function hintRows(B: string): readonly Row[] {
  const quotes = 'a word with spaces needs quotes: "my word"';
  const ports = "Hint: a localnet chooses its own addresses; --port-offset 100 moves all of its ports";
  const digits = "9".repeat(90);
  const tooLarge = `the amount of "${"9".repeat(20)}..." is too large: amounts are below 2^256, which has 78 digits`;
  const send = (amount: string, ...flags: readonly string[]) => ["tx", "bank", "send", "a", B, amount, ...flags];
  return [
    [["keys", "add", "my", "key"], 2, `usage: svc keys add <name> [flags]; ${quotes}`],
    [["init", "my", "node"], 2, quotes],
    [["deploy", "my", "file.yaml"], 2, quotes],
    [["keys", "list", "all"], 2, "Hint: usage: svc keys list [flags]\n"],
    [["keys", "add", " a"], 1, "Hint: leave out the space"],
    [["localnet", "--rpc.laddr", "tcp://127.0.0.1:1"], 2, ports],
    [["localnet", "--grpc.address=127.0.0.1:1"], 2, ports],
    [["localnet", "--ingress-listen-address", "127.0.0.1:1"], 2, ports],
    [send(`${digits}utoken`), 2, tooLarge],
    [send("1utoken", "--fees", `${digits}utoken`), 2, tooLarge],
    [send("1utoken", "--gas-prices", `${digits}.5utoken`), 2, tooLarge],
    [send("1utoken", "--gas", digits), 2, "is more gas than any transaction may have"],
    [send("1utoken", "--timeout-height", digits), 2, "--timeout-height is too large"],
    [["add-genesis-account", "a", `${digits}utoken`], 2, tooLarge],
    [["query", "block", digits], 2, "is more than any height"],
    [["keys", "add", "n", "--index", digits], 2, "--index is too large"],
  ];
}
