import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { pluginCredentials, tokenFile } from "./credentials.ts";

let folder: string;
let now: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-credentials-"));
  now = 1_000_000;
});

afterEach(() => rmSync(folder, { recursive: true }));

describe("a token in a file", () => {
  test("is read again after a minute, and at once when it was refused", async () => {
    const path = join(folder, "token");
    writeFileSync(path, "one\n");
    const credentials = tokenFile(path, {}, () => now);
    expect(await credentials.current()).toEqual({ token: "one" });
    writeFileSync(path, "two");
    now += 59_999;
    expect(await credentials.current()).toEqual({ token: "one" });
    now += 1;
    expect(await credentials.current()).toEqual({ token: "two" });
    writeFileSync(path, "three");
    expect(credentials.renew()).toBe(true);
    expect(await credentials.current()).toEqual({ token: "three" });
  });

  test.each(["", "two words", "a\nb", "ä"])("that is %j is none", async (text) => {
    const path = join(folder, "token");
    writeFileSync(path, text);
    await expect(tokenFile(path).current()).rejects.toThrow(/holds no token/);
  });
});

describe("a program that prints credentials", () => {
  /** A plugin that counts its runs in a file, and prints the given value. */
  function plugin(printed: unknown, code = 0) {
    const command = join(folder, "plugin");
    const text = typeof printed === "string" ? printed : JSON.stringify(printed);
    const script = `#!/bin/sh
echo "$1 $REGION $KUBERNETES_EXEC_INFO" >> ${join(folder, "runs")}
cat <<'END'
${text}
END
exit ${code}
`;
    writeFileSync(command, script);
    chmodSync(command, 0o700);
    return pluginCredentials(
      { apiVersion: "client.example/v1", command, args: ["get"], env: { REGION: "x" } },
      () => now,
    );
  }
  const printed = (status: object) => ({ apiVersion: "client.example/v1", kind: "ExecCredential", status });
  const runs = () => readFileSync(join(folder, "runs"), "utf8").trim().split("\n");

  test("is run when a credential is about to end or was refused, once for calls that come together", async () => {
    const credentials = plugin(printed({ token: "t", expirationTimestamp: new Date(1_100_000).toISOString() }));
    const all = await Promise.all([credentials.current(), credentials.current()]);
    expect(all).toEqual([{ token: "t" }, { token: "t" }]);
    const info = '{"apiVersion":"client.example/v1","kind":"ExecCredential","spec":{"interactive":false}}';
    expect(runs()).toEqual([`get x ${info}`]);
    now = 1_069_999;
    await credentials.current();
    expect(runs()).toHaveLength(1);
    now = 1_070_000;
    await credentials.current();
    expect(runs()).toHaveLength(2);
    credentials.renew();
    now = 0;
    await credentials.current();
    expect(runs()).toHaveLength(3);
  });

  test("may give a certificate", async () => {
    const credentials = plugin(printed({ clientCertificateData: "C", clientKeyData: "K" }));
    expect(await credentials.current()).toEqual({ cert: "C", key: "K" });
  });

  test.each<[string, unknown, number, RegExp]>([
    ["no JSON", "hello", 0, /is not a credential/],
    ["another kind", { kind: "Pod", status: { token: "t" } }, 0, /is not a credential/],
    ["nothing in it", printed({}), 0, /neither a token nor/],
    ["half a certificate", printed({ clientCertificateData: "C" }), 0, /neither a token nor/],
    ["a token of two lines", printed({ token: "a\nb" }), 0, /neither a token nor/],
    ["a time that is none", printed({ token: "t", expirationTimestamp: "soon" }), 0, /an invalid expiration time/],
    ["a failure", printed({ token: "t" }), 1, /gives no credentials/],
    ["without end", "x".repeat((1 << 20) + 1), 0, /gives no credentials/],
  ])("that prints %s is refused", async (_, text, code, message) => {
    await expect(plugin(text, code).current()).rejects.toThrow(message);
  });

  test("that is not there is refused", async () => {
    const call = { apiVersion: "v1", command: join(folder, "none"), args: [], env: {} };
    await expect(pluginCredentials(call).current()).rejects.toThrow(/none" gives no credentials/);
  });
});
