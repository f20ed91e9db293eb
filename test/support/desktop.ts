import { type ChildProcess, execFile, spawn } from "node:child_process";
import { accessSync, constants, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { Bus, type DBusValue, Variant } from "../../src/keyring/dbus/index.ts";
import { waitFor } from "./wait.ts";

/** A session bus without any service that would start by itself: only the programs of the test are on it. */
const BUS_CONFIG = (root: string): string => `<busconfig>
  <type>session</type>
  <listen>unix:path=${root}/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>
`;
const ANSWER_MS = 60_000;
/** Length of the key that KDE's login hands to KWallet. */
const WALLET_KEY = new Uint8Array(56).fill(7);

/** Programs of the list that this machine lacks. */
export function missingPrograms(names: readonly string[]): string[] {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return names.filter((name) => !folders.some((folder) => isExecutable(join(folder, name))));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * A separate desktop session: home, run-time directory and a private D-Bus session bus. Programs that were started in
 * it end with it, by their ids.
 */
export class DesktopSession {
  /** Short, because sockets have short paths. */
  readonly root = mkdtempSync("/tmp/svc-d-");
  readonly env: Readonly<Record<string, string>>;
  readonly #children: ChildProcess[] = [];
  #bus: Bus | undefined;

  private constructor() {
    for (const name of ["home", "run", "gpg"]) mkdirSync(join(this.root, name), { mode: 0o700 });
    const home = join(this.root, "home");
    this.env = {
      HOME: home,
      SVC_HOME: join(home, ".svc"),
      XDG_RUNTIME_DIR: join(this.root, "run"),
      XDG_CONFIG_HOME: join(home, ".config"),
      XDG_DATA_HOME: join(home, ".local", "share"),
      XDG_CACHE_HOME: join(home, ".cache"),
      DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(this.root, "bus")}`,
      PASSWORD_STORE_DIR: join(home, ".password-store"),
      GNUPGHOME: join(this.root, "gpg"),
      QT_QPA_PLATFORM: "offscreen",
      DISPLAY: "",
      WAYLAND_DISPLAY: "",
    };
    for (const name of ["XDG_CONFIG_HOME", "XDG_DATA_HOME"]) mkdirSync(this.env[name] ?? "", { recursive: true });
  }

  static async start(): Promise<DesktopSession> {
    const session = new DesktopSession();
    const config = join(session.root, "bus.conf");
    writeFileSync(config, BUS_CONFIG(session.root));
    session.run("dbus-daemon", ["--nofork", `--config-file=${config}`]);
    try {
      session.#bus = await waitFor(() => Bus.connect(join(session.root, "bus")), "the session bus");
      return session;
    } catch (error) {
      await session.stop();
      throw error;
    }
  }

  /** Starts a program in the session. */
  run(program: string, args: readonly string[], input = ""): ChildProcess {
    const log = join(this.root, `${program}.log`);
    const child = spawn(program, args, { env: { ...process.env, ...this.env }, stdio: ["pipe", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (bytes) => writeFileSync(log, bytes, { flag: "a" }));
    child.on("error", () => undefined);
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input);
    this.#children.push(child);
    return child;
  }

  /** Runs a program of the session to its end; gives its standard output. */
  async exec(program: string, args: readonly string[]): Promise<string> {
    return (await promisify(execFile)(program, args, { env: { ...process.env, ...this.env } })).stdout;
  }

  /** The output of a program. */
  log(program: string): string {
    return readFileSync(join(this.root, `${program}.log`), "utf8");
  }

  /** GNOME's keyring, unlocked as at a login, with an unlocked collection for each name. */
  async startGnomeKeyring(collections: readonly string[]): Promise<void> {
    this.run("gnome-keyring-daemon", ["--unlock", "--foreground", "--components=secrets"], "login-password\n");
    await this.#nameIsThere(SECRETS.destination);
    for (const name of collections) await this.#createCollection(name);
  }

  /** KDE's wallet program with open wallets of these names, as after a login that unlocks them. */
  async startKWallet(wallets: readonly string[]): Promise<void> {
    await this.#runKWallet(wallets, false);
  }

  /** The same, also as the Secret Service, which takes over the wallets that exist when it starts. */
  async startKWalletAsSecretService(wallets: readonly string[]): Promise<void> {
    const first = await this.#runKWallet(wallets, false);
    first.kill();
    await ended(first);
    await waitFor(async () => !(await this.bus.names()).owned.has("org.kde.kwalletd5"), "the end of kwalletd5");
    await this.#runKWallet(wallets, true);
    await this.#nameIsThere(SECRETS.destination);
  }

  async #runKWallet(wallets: readonly string[], asSecretService: boolean): Promise<ChildProcess> {
    writeFileSync(join(this.env.XDG_CONFIG_HOME ?? "", "kwalletrc"), KWALLET_CONFIG(asSecretService));
    const daemon = this.run("kwalletd5", []);
    await this.#nameIsThere("org.kde.kwalletd5");
    for (const name of wallets) {
      await this.kwallet("pamOpen", "sayi", [name, WALLET_KEY, 0]);
      await waitFor(async () => (await this.kwallet("isOpen", "s", [name]))[0] === true, `the wallet ${name}`);
    }
    return daemon;
  }

  kwallet(member: string, signature: string, body: readonly DBusValue[]): Promise<readonly DBusValue[]> {
    const call = { destination: "org.kde.kwalletd5", path: "/modules/kwalletd5", interface: "org.kde.KWallet" };
    return this.bus.call({ ...call, member, signature, body }, ANSWER_MS);
  }

  /** Locks a collection, as the desktop does when its user goes away. */
  async lockCollection(name: string): Promise<void> {
    const body = [[`${SECRETS.path}/collection/${name}`]];
    const call = { ...SECRETS, interface: "org.freedesktop.Secret.Service", member: "Lock", signature: "ao", body };
    await this.bus.call(call, ANSWER_MS);
  }

  /** A GPG key without a passphrase, and a password store for it. */
  async initPass(): Promise<void> {
    const key = "keyring@svc.test";
    const args = ["--batch", "--pinentry-mode", "loopback", "--passphrase", "", "--quick-generate-key", key];
    await this.exec("gpg", [...args, "default", "default", "never"]);
    await this.exec("pass", ["init", key]);
  }

  get bus(): Bus {
    if (this.#bus === undefined) throw new Error("the session has ended");
    return this.#bus;
  }

  async stop(): Promise<void> {
    this.#bus?.close();
    this.#bus = undefined;
    // It is the agent of only this directory.
    await this.exec("gpgconf", ["--kill", "gpg-agent"]).catch(() => undefined);
    for (const child of this.#children.toReversed()) child.kill();
    await Promise.all(this.#children.map(ended));
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  async #nameIsThere(name: string): Promise<void> {
    await waitFor(async () => (await this.bus.names()).owned.has(name), `${name} on the session bus`);
  }

  /** The service's own way for programs that have the password, without a dialog. */
  async #createCollection(name: string): Promise<void> {
    const open = { ...SECRETS, interface: "org.freedesktop.Secret.Service", member: "OpenSession" };
    const plain = { signature: "sv", body: ["plain", new Variant("s", "")] };
    const [, session = ""] = await this.bus.call({ ...open, ...plain }, ANSWER_MS);
    const password = [session, new Uint8Array(), new TextEncoder().encode(`${name}-password`), "text/plain"];
    const properties = [["org.freedesktop.Secret.Collection.Label", new Variant("s", name)]];
    const create = {
      ...SECRETS,
      interface: "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface",
      member: "CreateWithMasterPassword",
      signature: "a{sv}(oayays)",
      body: [properties, password],
    };
    await this.bus.call(create, ANSWER_MS);
  }
}

const SECRETS = { destination: "org.freedesktop.secrets", path: "/org/freedesktop/secrets" } as const;

/** KWallet asks nothing. */
const KWALLET_CONFIG = (asSecretService: boolean): string => `[Wallet]
Enabled=true
First Use=false
Prompt on Open=false
Default Wallet=kdewallet
Close When Idle=false
Leave Open=true

[org.freedesktop.secrets]
apiEnabled=${asSecretService}
`;

function ended(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once("exit", () => resolve()));
}
