import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runCli } from "../../../../test/cli/run.ts";
import { SdlError } from "../../../sdl/index.ts";
import { parseProviderFile } from "./provider.ts";

const parse = (text: string) => parseProviderFile(text, "provider.yaml");

/** The first fault in its printed form. */
function fault(text: string): string {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof SdlError) return `${error.message}; ${error.hint}`;
    throw error;
  }
  return "no fault";
}

const HOST = "host: https://provider.example.com:8443\n";

describe("provider.yaml", () => {
  test("gives host, attributes and info", () => {
    const text = `${HOST}attributes:\n  - key: host\n    value: acme\n  - {key: tier, value: 1.0}\ninfo:\n  email: a@b.example\n  website: https://b.example\n`;
    const { hostUri, attributes, info } = parse(text);
    expect(hostUri).toBe("https://provider.example.com:8443");
    expect(attributes.map(({ key, value }) => [key, value])).toEqual([
      ["host", "acme"],
      ["tier", "1.0"],
    ]);
    expect(info).toEqual({ email: "a@b.example", website: "https://b.example" });
  });

  test("one that is another file has the remedy for a provider file", async () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-provider-file-"));
    const file = join(folder, "mine.yaml");
    writeFileSync(file, 'version: "2.0"\nservices: {}\n');
    const { code, err } = await runCli(["tx", "provider", "create", file, "--from", "provider"]);
    expect(code).toBe(1);
    expect(err).toMatch(/^Error: mine\.yaml:\d+:\d+: .* \(and 2 more\)\nHint: /);
    expect(err).toMatch(/; a whole provider file is the example of: svc tx provider create --help\n$/);
    expect(err).not.toContain("svc sdl validate");
    const { out } = await runCli(["tx", "provider", "create", "--help"]);
    const shown = /<<'END'\n(.*?)\n *END\n/s.exec(out)?.[1] ?? "";
    expect(parse(shown.replace(/^ {2}/gm, ""))).toMatchObject({ hostUri: "https://provider.example.com:8443" });
    rmSync(folder, { recursive: true });
  });

  test("needs the host alone", () => {
    expect(parse(HOST)).toMatchObject({ attributes: [], info: { email: "", website: "" } });
    expect(parse("host: https://10.0.0.1:8443/\nattributes:\n").hostUri).toBe("https://10.0.0.1:8443");
  });

  test.each([
    ["", "provider.yaml:1:1: an empty value is not a provider file; write host: https"],
    ["attributes: []", 'provider.yaml:1:1: "host" is missing; write https://<host>:8443'],
    ["host: http://a.example:8443", 'provider.yaml:1:7: host: "http://a.example:8443" does not begin with https://'],
    ["host: provider.example.com", 'host: "provider.example.com" is not an address'],
    ["host: https://a.example:99999", "is not an address"],
    ["host: https://a.example/path", "has more than host and port"],
    ["host: https://u:p@a.example", "has more than host and port"],
    ["host: javascript:alert(1)", "is not an address"],
    ["host: HTTPS://a.example:8443", "is not an address that the chain accepts; write https://<host>:8443"],
    ["host: https://a..b:8443", "is not an address that the chain accepts"],
    ["host: https://-a.example:8443", "is not an address that the chain accepts"],
    ["host: https://a.example.:8443", "is not an address that the chain accepts"],
    ["host: https://bücher.example:8443", "is not an address that the chain accepts"],
    [`host: https://${"a".repeat(64)}.example`, "is not an address that the chain accepts"],
    ["host: https://a.example:08443", "is not an address that the chain accepts"],
    ["host: 'https://a.example:'", "is not an address that the chain accepts"],
    [`${HOST}info: {email: "a b@c@d"}`, "is not an email address"],
    [`${HOST}info: {email: "a@b..c"}`, "is not an email address"],
    [`${HOST}info: {website: "ftp://b.example"}`, "is not a web address"],
    ["host: [a]", "host: a list is not an address"],
    ["hots: https://a.example:8443", 'provider.yaml:1:1: hots: unknown key "hots"; did you mean "host"?'],
    [`${HOST}attributes: {a: b}`, "provider.yaml:2:1: attributes: a map is not a list of attributes"],
    [`${HOST}attributes:\n  - key: region`, 'provider.yaml:3:5: attributes[0]: "value" is missing'],
    [`${HOST}attributes:\n  - key: region\n    value:`, 'attributes[0].value: "value" is empty'],
    [
      `${HOST}attributes:\n  - region`,
      'attributes[0]: "region" is not an attribute; write {key: region, value: eu-west}',
    ],
    [`${HOST}attributes:\n  - {key: a b, value: c}`, 'invalid attribute key "a b"'],
    [
      `${HOST}attributes:\n  - {key: region, value: c}\n  - {key: region, value: d}`,
      "provider.yaml:4:5: attributes[1]: attribute region appears twice",
    ],
    [`${HOST}attributes:\n  - {key: region, value: ${"x".repeat(257)}}`, "the value of attribute region is too long"],
    [`${HOST}info: {email: nobody}`, 'provider.yaml:2:15: info.email: "nobody" is not an email address'],
    [`${HOST}info: {website: nowhere}`, '"nowhere" is not a web address'],
    [`${HOST}info: {phone: 1}`, 'unknown key "phone"; the keys here are email, website'],
    ["host: !a https://a.example", "tags are not supported"],
    ["host: https://a.example\nhost: https://b.example", 'the key "host" is here twice'],
    ["host: 'https://a.example", "provider.yaml:1:"],
    [`host: ${"x".repeat(70_000)}`, "the file is larger than"],
  ])("refuses %j", (text, expected) => expect(fault(text)).toContain(expected));
});
