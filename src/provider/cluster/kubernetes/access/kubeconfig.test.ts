import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inClusterAccess, MAX_CONFIG_BYTES, readKubeconfig } from "./kubeconfig.ts";

let folder: string;
let file: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-kubeconfig-"));
  file = join(folder, "config");
});

afterAll(() => rmSync(folder, { recursive: true }));

const base64 = (text: string) => Buffer.from(text).toString("base64");

/** A file with one cluster and one user. */
function config(cluster: object = {}, user: object = {}): void {
  const context = { name: "c", context: { cluster: "k", user: "u" } };
  const clusters = [{ name: "k", cluster: { server: "https://10.0.0.1:6443", ...cluster } }];
  const users = [{ name: "u", user }];
  writeFileSync(file, JSON.stringify({ "current-context": "c", contexts: [context], clusters, users }));
}

/** Lines that grow ninefold each when their names are replaced by their contents. */
function bomb(names: string): string {
  return [...names].map((name, i) => `${name}: &${name} [${Array(9).fill(`*${"a".concat(names)[i]}`)}]`).join("\n");
}

describe("a kubeconfig file", () => {
  test("in YAML, with data and with names of files beside it, and another context", async () => {
    writeFileSync(join(folder, "ca.pem"), "AUTHORITY");
    writeFileSync(
      file,
      `apiVersion: v1
kind: Config
current-context: one
contexts:
- {name: one, context: {cluster: a, user: cert}}
- {name: two, context: {cluster: b, user: token, namespace: x}}
- {name: three, context: {cluster: b}}
clusters:
- {name: a, cluster: {server: "https://a.example:6443/prefix", certificate-authority: ca.pem, tls-server-name: inner}}
- {name: b, cluster: {server: "https://[fd00::1]", certificate-authority-data: ${base64("DATA")}}}
users:
- {name: cert, user: {client-certificate-data: ${base64("CERT")}, client-key-data: ${base64("KEY")}}}
- {name: token, user: {token: abc}}
`,
    );
    const one = readKubeconfig(file);
    expect([one.server.href, one.tls]).toEqual([
      "https://a.example:6443/prefix",
      { ca: "AUTHORITY", servername: "inner" },
    ]);
    expect(await one.credentials.current()).toEqual({ cert: "CERT", key: "KEY" });
    expect(one.credentials.renew()).toBe(false);
    const two = readKubeconfig(file, "two");
    expect([two.server.host, two.tls, await two.credentials.current()]).toEqual([
      "[fd00::1]",
      { ca: "DATA" },
      { token: "abc" },
    ]);
    expect(await readKubeconfig(file, "three").credentials.current()).toEqual({});
    expect(() => readKubeconfig(file, "four")).toThrow(/no context "four"/);
  });

  test("that asks for no check of the certificate has none", () => {
    config({ "insecure-skip-tls-verify": true });
    expect(readKubeconfig(file).tls).toEqual({ rejectUnauthorized: false });
    config();
    expect(readKubeconfig(file).tls).toEqual({});
  });

  test("whose token is in a file of its own is read from there", async () => {
    writeFileSync(join(folder, "token"), "from-file\n");
    config({}, { tokenFile: "token" });
    expect(await readKubeconfig(file).credentials.current()).toEqual({ token: "from-file" });
  });

  test.each<[string, object, object, RegExp]>([
    ["a proxy", { "proxy-url": "http://proxy" }, {}, /proxy-url is not supported/],
    ["an address that is none", { server: "10.0.0.1" }, {}, /not the address/],
    ["an address of another kind", { server: "ftp://10.0.0.1" }, {}, /not the address/],
    ["a password in the address", { server: "https://a:b@10.0.0.1" }, {}, /not the address/],
    ["an old form of sign-in", {}, { "auth-provider": { name: "x" } }, /auth-provider of a user/],
    ["a password", {}, { username: "x", password: "y" }, /username of a user/],
    ["another's name", {}, { token: "t", as: "root" }, /as of a user/],
    ["a certificate without key", {}, { "client-certificate-data": base64("C") }, /needs its key/],
    ["a key without certificate", {}, { "client-key-data": base64("C") }, /needs its key/],
    ["a token of two lines", {}, { token: "a\r\nx-header: b" }, /characters that no token has/],
    ["a file that is not there", { "certificate-authority": "none.pem" }, {}, /none\.pem/],
    ["a server that is a number", { server: 7 }, {}, /not a kubeconfig file: clusters\.0\.cluster\.server/],
  ])("with %s is refused", (_, cluster, user, message) => {
    config(cluster, user);
    expect(() => readKubeconfig(file)).toThrow(message);
  });

  test.each<[string, RegExp]>([
    ["", /not a kubeconfig file/],
    ["- a", /not a kubeconfig file/],
    ["{", /cannot be read/],
    ["[".repeat(100_000), /cannot be read/],
    [`a: &a [1,1,1,1,1,1,1,1,1]\n${bomb("bcdefgh")}`, /cannot be read/],
    ["{}", /no context ""/],
    ["contexts: [{name: ''}]", /no context ""/],
    ["current-context: c\ncontexts: [{name: c, context: {cluster: k}}]", /no cluster "k"/],
  ])("with the text %# is refused", (text, message) => {
    writeFileSync(file, text);
    expect(() => readKubeconfig(file)).toThrow(message);
  });

  test.each([
    [MAX_CONFIG_BYTES, /no context/],
    [MAX_CONFIG_BYTES + 1, /is larger than/],
  ])("of %i bytes", (size, message) => {
    writeFileSync(file, `{}#${" ".repeat(size - 3)}`.replace("{}#", "{} #").slice(0, size));
    expect(() => readKubeconfig(file)).toThrow(message);
  });
});

describe("in a cluster", () => {
  const env = { KUBERNETES_SERVICE_HOST: "10.96.0.1", KUBERNETES_SERVICE_PORT: "443" };

  test("the access is what the cluster gives to its programs", async () => {
    writeFileSync(join(folder, "token"), "mounted");
    writeFileSync(join(folder, "ca.crt"), "AUTHORITY");
    const access = inClusterAccess(env, folder);
    expect([access?.server.href, access?.tls]).toEqual(["https://10.96.0.1/", { ca: "AUTHORITY" }]);
    expect(await access?.credentials.current()).toEqual({ token: "mounted" });
    const other = inClusterAccess({ ...env, KUBERNETES_SERVICE_HOST: "fd00::1" }, folder);
    expect(other?.server.hostname).toBe("[fd00::1]");
  });

  test("there is none elsewhere", () => {
    expect(inClusterAccess({}, folder)).toBeUndefined();
    expect(inClusterAccess(env, join(folder, "none"))).toBeUndefined();
  });
});
