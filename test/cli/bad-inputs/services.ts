import { mkdirSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Row, TestHome } from "./home.ts";

/** Nodes, providers, localnets and deployments: nothing is started before everything is right. */
export function serviceRows(testHome: TestHome): readonly Row[] {
  return [
    ...noFileRows(testHome),
    ...nodeRows(testHome),
    ...homeRows(testHome),
    ...providerRows(testHome),
    ...deployRows(testHome),
  ];
}

/** Homes that cannot be made: one where nothing is ever made, and one below a file. */
function homeRows({ file }: TestHome): readonly Row[] {
  const homes = [
    ["/proc/svc-none/home", "cannot make the directory /proc/svc-none"],
    [join(file("homes/file", ""), "home"), "a file is in the way"],
  ] as const;
  const commands = [
    ["keys", "add", "x"],
    ["init", "node"],
    ["config", "set", "chain-id", "x-1"],
    ["localnet", "--port-offset", "1700"],
  ];
  return homes.flatMap(([home, text]) => commands.map((words): Row => [[...words, "--home", home], 1, text]));
}

/** Paths that are no regular file or never end, in the place of each file argument. */
function noFileRows({ root, file }: TestHome): readonly Row[] {
  const loop = join(root, "loop");
  symlinkSync(loop, loop);
  const socket = join(root, "socket");
  createServer().listen(socket).unref();
  const from = ["--from", "a"];
  const commands: readonly (readonly [readonly string[], readonly string[]])[] = [
    [["keys", "import", "x"], []],
    [["keys", "add", "x", "--recover", "--source"], []],
    [["tx", "sign"], from],
    [["tx", "sign-batch"], from],
    [["tx", "encode"], []],
    [["tx", "broadcast"], []],
    [["tx", "validate-signatures"], []],
    [["tx", "provider", "create"], from],
    [["tx", "gov", "submit-proposal"], from],
    [["tx", "authz", "exec"], from],
    [["tx", "deployment", "create"], from],
    [["deploy"], from],
    [["sdl", "hash"], []],
    [["validate-genesis"], []],
  ];
  const places = [
    ["/dev/zero", "/dev/zero is a device, not a file"],
    [socket, "socket is a socket, not a file"],
    [root, "is a directory, not a file"],
    [loop, "ELOOP"],
    [join(file("nofile/text", ""), "below"), "ENOTDIR"],
  ] as const;
  const given = commands.flatMap(([words, rest]) =>
    places.map(([path, text]): Row => [[...words, path, ...rest], 1, text]),
  );
  const home = join(root, "nofile", "home");
  for (const name of ["keyring-file", "config", "certs"]) mkdirSync(join(home, name), { recursive: true, mode: 0o700 });
  symlinkSync("/dev/zero", join(home, "keyring-file", "keyhash"));
  symlinkSync("/dev/zero", join(home, "config", "genesis.json"));
  symlinkSync("/dev/zero", join(home, "config", "client.toml"));
  const keyring = ["--keyring-backend", "file", "--keyring-dir", home];
  return [
    ...given,
    [["keys", "add", "x", ...keyring], 1, "keyhash is a device, not a file"],
    [["validate-genesis"], 1, "client.toml is a device, not a file", { env: { SVC_HOME: home } }],
    [["keys", "list"], 1, "client.toml is a device, not a file", { env: { SVC_HOME: home } }],
    [["provider", "run", ...from, "--provider-config", "/dev/zero"], 1, "/dev/zero is a device, not a file"],
    [
      ["keys", "add", "x", "--keyring-passphrase-file", "/dev/zero", ...keyring.with(-1, join(root, "nofile"))],
      1,
      "/dev/zero",
    ],
  ];
}

function nodeRows({ A, root, file, tx }: TestHome): readonly Row[] {
  const empty = ["--home", join(root, "nodes", "new")];
  const genesis = (name: string, text: string): string[] => [
    "--home",
    join(file(`nodes/${name}/config/genesis.json`, text), "../.."),
  ];
  const damaged = genesis("damaged", "{");
  const other = genesis("other", "{}");
  const cut = genesis("cut", '{"chain_id":"x-1","app_state":{"bank":{"par');
  const nothing = genesis("nothing", "\n");
  const comma = genesis("comma", '{"chain_id":"x-1",}');
  const whole = "Hint: copy the genesis file again, whole\n";
  return [
    [["init"], 2, "missing required argument 'moniker'"],
    [["init", "", ...empty], 1, "moniker"],
    [["init", "a\nb", ...empty], 1, "moniker"],
    [["init", "x".repeat(100), ...empty], 1, "moniker"],
    [["init", "node", "--chain-id", "a b", ...empty], 1, "a b"],
    [["init", "node", "--chain-id", "x".repeat(60), ...empty], 1, "chain"],
    [["init", "node", ...damaged], 1, "genesis.json file already exists"],
    [["add-genesis-account", A, "1utoken", ...empty], 1, "there is no genesis file"],
    [["add-genesis-account", A, "1utoken", ...damaged], 1, "invalid genesis"],
    [["add-genesis-account", A, "5", ...empty], 2, 'invalid coin "5"'],
    [["add-genesis-account", A, "", ...empty], 2, "write the coins of the account"],
    [["add-genesis-account", "nobody", "1utoken", ...empty], 1, "nobody"],
    [["add-genesis-account", A], 2, "missing required argument 'coins'"],
    [["validate-genesis", ...empty], 1, "there is no genesis file"],
    [["validate-genesis", ...damaged], 1, "invalid genesis"],
    [["validate-genesis", ...cut], 1, "invalid genesis: the file is cut short: it ends after 43 bytes\n"],
    ...[["validate-genesis"], ["start"], ["export"], ["collect-gentxs"]].flatMap((words): readonly Row[] => [
      [[...words, ...cut], 1, whole],
      [[...words, ...nothing], 1, `the file is empty\n${whole}`],
      [[...words, ...comma], 1, "Hint: correct the genesis file, or copy it again\n"],
    ]),
    [["validate-genesis", "/nonexistent/genesis.json"], 1, "cannot read the genesis file"],
    [["validate-genesis", ...other], 1, "invalid genesis"],
    [["start", ...empty], 1, "there is no genesis file"],
    [["start", ...damaged], 1, "invalid genesis"],
    [["start", "--block-interval", "1ms", ...other], 2, "--block-interval"],
    [["start", "--block-interval", "soon", ...other], 2, "--block-interval"],
    [["start", "--minimum-gas-prices", "x", ...other], 2, "--minimum-gas-prices"],
    [["start", "--rpc.laddr", "nonsense", ...other], 2, "--rpc.laddr"],
    [["start", "--rpc.max-body-bytes", "x", ...other], 2, "--rpc.max-body-bytes"],
    [["start", "--halt-height", "-1", ...other], 2, "--halt-height"],
    [["start", "--mempool.size", "x", ...other], 2, "--mempool.size"],
    [["start", "--log_level", "loud", ...other], 2, "--log_level takes trace"],
    [["start", ...other], 2, "SVC_BLOCK_INTERVAL", { env: { SVC_BLOCK_INTERVAL: "x" } }],
    [["export", ...empty], 1, "there is no genesis file"],
    [["export", "--home", tx], 1, "genesis"],
  ];
}

function providerRows({ A, none }: TestHome): readonly Row[] {
  const sdl = join(import.meta.dirname, "../../../examples/web.yaml");
  const lease = ["--dseq", "1", "--from", "a", "--provider", A];
  return [
    [["provider", "run"], 2, "required flag --from"],
    [["provider", "run", "--from", "nobody"], 1, "nobody is not a valid name or address"],
    [["provider", "run", "--from", "a", "--cluster-ingress", "x"], 2, "--cluster-ingress takes cluster, provider"],
    [
      ["provider", "run", "--from", "a", "--cluster-ingress-scheme", "x"],
      2,
      "--cluster-ingress-scheme takes http, https",
    ],
    [["provider", "run", "--from", "a", "--cluster-pod-security", "x"], 2, "takes restricted, baseline"],
    [["provider", "run", "--from", "a", "--clusterconfig", none], 1, "--clusterconfig"],
    [["provider", "run", "--from", "a", "--bid-price-cpu-scale", "x"], 2, "--bid-price-cpu-scale"],
    [["provider", "run", "--from", "a", "--bid-price-strategy", "free"], 2, "--bid-price-strategy takes scale"],
    [["provider", "run", "--from", "a", "--bid-deposit", "x"], 2, "--bid-deposit"],
    [["provider", "run", "--from", "a", "--fees", "x"], 2, "--fees"],
    [["provider", "run", "--from", "a", "--cluster-node-port-range", "5-1"], 2, "--cluster-node-port-range"],
    [["provider", "run", "--from", "a", "--cluster-node-port-quantity", "x"], 2, "--cluster-node-port-quantity"],
    [
      ["provider", "run", "--from", "a", "--ingress-connections-per-address", "0"],
      2,
      "--ingress-connections-per-address takes a number of at least 1",
    ],
    [
      ["provider", "run", "--from", "a", "--ingress-trusted-proxies", "10.0.0.0/8,proxy"],
      2,
      '--ingress-trusted-proxies: "proxy" is neither an address nor a network',
    ],
    [["provider", "run", "--from", "a", "--bid-timeout", "soon"], 2, "--bid-timeout takes a duration"],
    [["provider", "run", "--from", "a", "--overcommit-pct-cpu", "-5"], 2, "--overcommit-pct-cpu"],
    [["provider", "run", "--from", "a", "--provider-config", none], 1, "provider"],
    [["provider", "run", "--from", "a", "--cluster-volume-sizes", "big"], 2, "--cluster-volume-sizes takes loop, none"],
    [["provider", "send-manifest", none, ...lease], 1, "cannot read the deployment file"],
    [["provider", "send-manifest", sdl, "--from", "a"], 2, "--dseq"],
    [["provider", "send-manifest", sdl, "--dseq", "1"], 2, "required flag --from"],
    [["provider", "send-manifest"], 2, "missing required argument 'file'"],
    [["provider", "lease-status", "--from", "a"], 2, "--dseq"],
    [["provider", "lease-status", ...lease, "--provider", "x"], 2, "--provider"],
    [["provider", "lease-status", ...lease, "--auth-type", "password"], 2, "--auth-type takes mtls, jwt"],
    [["provider", "lease-status", ...lease, "--dseq", "x"], 2, "--dseq"],
    [["provider", "lease-status", ...lease, "--gseq", "0"], 2, "--gseq"],
    [["provider", "lease-logs", ...lease, "--tail", "many"], 2, "--tail"],
    [["provider", "lease-logs", ...lease, "--since", "yesterday"], 2, "--since takes a time"],
    [["provider", "lease-logs", ...lease, "--previous", "-f"], 2, "--previous and --follow cannot be used together"],
    [["provider", "lease-restart", ...lease], 2, "--service"],
    [["provider", "lease-shell", ...lease], 2, "missing required argument 'service'"],
    [["provider", "lease-shell", ...lease, "web"], 2, "missing required argument 'command'"],
    [["provider", "lease-shell", ...lease, "--replica-index", "-1", "web", "sh"], 2, "--replica-index"],
    [["provider", "service-status", ...lease], 2, "--service"],
    [["provider", "status", "x"], 2, "<address>"],
    [["provider", "status"], 2, "missing required argument 'address'"],
  ];
}

function deployRows({ A, none, root, file }: TestHome): readonly Row[] {
  const sdl = join(import.meta.dirname, "../../../examples/web.yaml");
  const from = ["--from", "a"];
  return [
    [["deploy", none, ...from], 1, "cannot read the deployment file"],
    [["deploy", root, ...from], 1, "cannot read the deployment file"],
    [["deploy", file("deploy/bad.yaml", "version: 9\n"), ...from], 1, "bad.yaml:1:1"],
    [["deploy", sdl, "--from", "nobody"], 1, "nobody is not a valid name or address"],
    [["deploy", sdl, ...from, "--timeout", "soon"], 2, "--timeout takes a duration"],
    [["deploy", sdl, ...from, "--timeout", "0s"], 2, "--timeout takes a duration"],
    [["deploy", sdl, ...from, "--ledger"], 2, "--ledger cannot be used with svc deploy"],
    [["deploy", sdl, ...from, "--max-price", "x"], 2, "--max-price"],
    [["deploy", sdl, ...from, "--bid", "best"], 2, "--bid"],
    [["deploy", sdl, ...from, "--bid-window", "x"], 2, "--bid-window"],
    [["deploy", sdl, ...from, "--deposit", "x"], 2, "--deposit"],
    [["deploy"], 2, "missing required argument 'file'"],
    [["deploy", "close", "x", ...from], 2, "x"],
    [["deploy", "update", none, ...from], 1, "cannot read the deployment file"],
    [["deploy", "logs", "--tail", "many", ...from], 2, "--tail"],
    [["deploy", "logs", "--dseq", "x", ...from], 2, "--dseq"],
    [["deploy", "shell"], 2, "missing required argument 'service'"],
    [["deploy", "shell", "--replica-index", "x", ...from, "web", "sh"], 2, "--replica-index"],
    [["localnet", "--port-offset", "50"], 2, "--port-offset"],
    [["localnet", "--port-offset", "x"], 2, "--port-offset"],
    [["localnet", "--port-offset", "99900"], 2, "--port-offset"],
    [["localnet", "--block-interval", "1ms"], 2, "--block-interval"],
    [["localnet", "--validators", "0"], 2, "--validators takes 1 to 10, not 0"],
    [["localnet", "--providers", "11"], 2, "--providers takes 1 to 10, not 11"],
    [["localnet", "--clusterconfig", none], 1, "--clusterconfig"],
    [["localnet", "--kubeconfig", "package.json", "--cluster-engine", "x"], 2, "cannot be used together"],
    [["localnet", "--deploy", none], 1, "cannot read the deployment file"],
    [["faucet"], 2, "missing required argument 'address'"],
    [["faucet", "x"], 2, "<address>"],
    [["faucet", A, "x"], 2, "<amount>"],
    [["faucet", A, "--port-offset", "7"], 2, "--port-offset"],
  ];
}
