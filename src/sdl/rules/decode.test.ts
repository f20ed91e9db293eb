import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { type LoadedSdl, loadSdl } from "../load.ts";
import type { ManifestExpose } from "../manifest.ts";
import { manifestJson } from "../plan/hash.ts";
import { checkManifestAgainstGroup, checkManifestAgainstGroups } from "./check.ts";
import { decodeManifest } from "./decode.ts";
import { validateManifest } from "./validate.ts";

const VECTORS = resolve(import.meta.dirname, "../../../test/vectors/sdl");

function vector(name: string): LoadedSdl {
  return loadSdl(readFileSync(resolve(VECTORS, `${name}.yaml`), "utf8"));
}

/** The JSON text of a manifest with one part replaced, as a client might send it. */
function sent(name: string, from: string, to: string): unknown {
  const text = manifestJson(vector(name).manifest);
  expect(text).toContain(from);
  return JSON.parse(text.replace(from, () => to));
}

describe("a received manifest", () => {
  it.each([
    ['"count":2', '"count":0', "manifest[0].services[1].count: expected >=1"],
    ['"count":2', '"count":1.5', "manifest[0].services[1].count"],
    ['"count":2', '"count":"2"', "manifest[0].services[1].count: expected number"],
    ['"count":2,', "", "manifest[0].services[1].count: missing"],
    ['"count":2', '"count":2,"extra":1', "manifest[0].services[1].extra: unknown field"],
    ['"count":2', '"count":2,"__proto__":{}', "manifest[0].services[1].__proto__: unknown field"],
    ['"port":3000', '"port":65536', "manifest[0].services[1].expose[0].port: expected <=65535"],
    ['"proto":"TCP","service":"shop"', '"proto":"tcp","service":"shop"', "manifest[0].services[0].expose[0].proto"],
    ['"val":"250"', '"val":"0250"', "manifest[0].services[1].resources.cpu.units.val"],
    ['"val":"250"', '"val":250', "manifest[0].services[1].resources.cpu.units.val: expected string"],
    ['"nextTries":3', '"nextTries":-1', "httpOptions.nextTries: expected >=0"],
    ['"id":2', '"id":0', "manifest[0].services[1].resources.id: expected >=1"],
    ['"DB_HOST=db"', '"=db"', '"" is not the name of a variable'],
    ['"FROM_OUTSIDE"', '"A\\u0000"', 'the value of "A\\u0000" holds a NUL byte'],
    ['"FROM_OUTSIDE"', '"A=\\ud800"', "text is not well-formed Unicode"],
    ['"ghcr.io/example/shop:3.2.1"', '"-v /:/host"', "is not the name of an image"],
    ['"shop.example.com"', '"Shop.example.com"', '"Shop.example.com" is not a host name'],
    ['"www.shop.example.com"', '"10.0.0.1"', '"10.0.0.1" is not a host name'],
    ['"name":"db"', '"name":"zz"', 'services of group "anywhere" are not sorted by name'],
    ['"name":"db"', '"name":"shop"', 'services of group "anywhere" are not sorted by name'],
    ['"name":"db"', '"name":"../db"', 'service "../db" of group "anywhere": the name is not valid'],
    ['"global":true', '"global":false', "no service can be reached from outside"],
  ])("with %s replaced by %s is refused", (from, to, detail) => {
    const json = sent("two-services", from, to);
    expect(() => decodeManifest(json)).toThrowError(
      expect.objectContaining({ codespace: "sdl", code: 20, message: expect.stringContaining(detail) }),
    );
  });

  it.each([
    ['"mount":"/scratch"', '"mount":"scratch"', '"scratch" is not a place for a volume'],
    ['"mount":"/scratch"', '"mount":"/var/www/html/"', "is mounted twice"],
    ['{"mount":"/var/www/html","name":"data","readOnly":false},', "", 'volume "data" is persistent but not mounted'],
    ['"name":"scratch","readOnly"', '"name":"other","readOnly"', 'there is no volume "other" to mount'],
    ['"name":"scratch","size"', '"name":"data","size"', "two volumes have one name"],
  ])("with volumes changed from %s to %s is refused", (from, to, detail) => {
    expect(() => decodeManifest(sent("persistent-storage", from, to))).toThrowError(detail);
  });

  it.each(["x/../../other/db-0.data", "..", "a b", "data\n", "-v"])("with a volume named %j is refused", (name) => {
    const text = manifestJson(vector("persistent-storage").manifest).replaceAll(
      '"name":"data"',
      () => `"name":${JSON.stringify(name)}`,
    );
    expect(() => decodeManifest(JSON.parse(text))).toThrowError("is not a name for a volume");
  });

  it.each([
    [null],
    ["[]"],
    [{}],
    [[]],
    [[{ name: "g", services: [] }]],
    [[[]]],
    [Array(21).fill({ name: "g", services: [] })],
  ])("of another shape is refused: %j", (json) => {
    expect(() => decodeManifest(json)).toThrowError(expect.objectContaining({ code: 20 }));
  });

  it("is refused when two services claim a host name, or the ports are not sorted", () => {
    const hosts = sent("two-groups", '"hosts":null', '"hosts":["a.example.com"]');
    expect(() => decodeManifest(hosts)).not.toThrow();
    const twice = JSON.parse(JSON.stringify(hosts).replace('"hosts":null', '"hosts":["a.example.com"]'));
    expect(() => decodeManifest(twice)).toThrowError('host name "a.example.com" already belongs to');
    const unsorted = sent("ports-tcp-udp", '"port":8080', '"port":30000');
    expect(() => decodeManifest(unsorted)).toThrowError("exposed ports are not sorted");
  });

  it("never repeats a password", () => {
    const json = sent("credentials", '"password":"not-a-real-one"', '"password":{"hidden":"hunter22"}');
    expect(() => decodeManifest(json)).toThrowError(/credentials\.password: expected string(?!.*hunter22)/s);
  });

  it.each([
    ["joe:hunter22@r.example.com/shop", '"joe:...@r.example.com/shop" is not'],
    ["r.example.com/joe:hunter22@shop", '"r.example.com/joe:hunter22@shop" is not'],
  ])("shows the name of an image without a password: %.40s", (image, shown) => {
    const json = sent("two-services", '"ghcr.io/example/shop:3.2.1"', JSON.stringify(image));
    expect(() => decodeManifest(json)).toThrowError(shown);
  });
});

describe("a manifest beside the groups on the chain", () => {
  const shop = vector("two-services");
  const decoded = (name: string, from: string, to: string) => decodeManifest(sent(name, from, to));

  it.each([
    ['"val":"250"', '"val":"500"', 'group "anywhere": service "shop": cpu is 500 in the manifest and 250 on the chain'],
    ['"val":"268435456"', '"val":"1"', "memory is 1 in the manifest and 268435456 on the chain"],
    ['"val":"536870912"', '"val":"1"', "storage is default 1 in the manifest and default 536870912 on the chain"],
    ['"gpu":{"units":{"val":"0"}}', '"gpu":{"units":{"val":"1"}}', "gpu is 1 in the manifest and 0 on the chain"],
    ['"id":2', '"id":3', 'service "shop": there is no resource with id 3'],
    ['"count":2', '"count":3', "resource 2: replicas are over-utilized: 3 in the manifest, 2 on the chain"],
    ['"count":2', '"count":1', "resource 2: replicas are under-utilized: 1 in the manifest, 2 on the chain"],
    [
      '"externalPort":80',
      '"externalPort":81',
      "resource 2: HTTP endpoints are under-utilized: 0 in the manifest, 1 on the chain",
    ],
    [
      '"global":false',
      '"global":true',
      "resource 1: port endpoints are over-utilized: 1 in the manifest, 0 on the chain",
    ],
    ['"name":"anywhere"', '"name":"elsewhere"', 'the chain has no group "elsewhere"'],
  ])("with %s replaced by %s does not fit", (from, to, detail) => {
    const manifest = decoded("two-services", from, to);
    expect(() => checkManifestAgainstGroups(manifest, shop.groups)).toThrowError(
      expect.objectContaining({ codespace: "sdl", code: 21, message: expect.stringContaining(detail) }),
    );
  });

  it("must have as many groups", () => {
    expect(() => checkManifestAgainstGroups(shop.manifest, [])).toThrowError(
      "1 groups in the manifest, 0 on the chain",
    );
  });

  it("must use up leased addresses and adds up services of one resource", () => {
    const dns = vector("leased-ip");
    const manifest = decoded("leased-ip", '"global":true,"hosts":null', '"global":true,"hosts":[]');
    expect(() => checkManifestAgainstGroups(manifest, dns.groups)).not.toThrow();
    const without = decoded("leased-ip", '"ip":"public"', '"ip":""');
    expect(() => checkManifestAgainstGroups(without, dns.groups)).toThrowError(
      "leased addresses are under-utilized: 1",
    );
    const merged = decoded("merged-v2.1", '"count":2', '"count":3');
    expect(() => checkManifestAgainstGroups(merged, vector("merged-v2.1").groups)).toThrowError(
      "4 in the manifest, 3 on the chain",
    );
  });

  it.each([
    ['"endpointSequenceNumber":2', '"endpointSequenceNumber":1', "numbers do not match"],
    ['"endpointSequenceNumber":2', '"endpointSequenceNumber":0', "numbers do not match"],
    ['"ip":"public"', '"ip":"second"', "numbers do not match"],
    ['"ip":"public"', '"ip":"203.0.113.9"', '"203.0.113.9" is not a name for a leased address'],
    ['"ip":"public"', '"ip":"a/b"', '"a/b" is not a name for a leased address'],
  ])("has no more leased addresses than are paid for: %s replaced by %s", (from, to, detail) => {
    expect(() => decoded("leased-ip", from, to)).toThrowError(detail);
  });

  it("has leased addresses of the numbers on the chain, and no port of one twice", () => {
    const { manifest, groups } = vector("leased-ip");
    const change = (over: (expose: ManifestExpose, at: number) => Partial<ManifestExpose>) =>
      manifest.map((group) => ({
        ...group,
        services: group.services.map((service) => ({
          ...service,
          expose: service.expose.map((expose, at) => ({ ...expose, ...over(expose, at) })),
        })),
      }));
    const two = change((_, at) => ({ ip: `name${"ab"[at]}`, endpointSequenceNumber: at + 1 }));
    expect(() => validateManifest(two)).not.toThrow();
    expect(() => checkManifestAgainstGroups(two, groups)).toThrowError(
      /leased addresses are number 1, 2 in the manifest/,
    );
    const twice = change(() => ({ externalPort: 5000, proto: "TCP" }));
    expect(() => validateManifest(twice)).toThrowError(/public:5000\/TCP is already in use/);
  });

  it("may have one port under several external ports", () => {
    const { manifest } = vector("two-services");
    const twice = manifest.map((group) => ({
      ...group,
      services: group.services.map((service) => ({
        ...service,
        expose: service.expose.flatMap((expose) => [expose, { ...expose, externalPort: 9000, hosts: null }]),
      })),
    }));
    expect(() => validateManifest(twice)).not.toThrow();
  });

  it("is checked group by group as well", () => {
    const { manifest, groups } = vector("two-groups");
    const [east, west] = manifest;
    const [eastSpec] = groups;
    if (east === undefined || west === undefined || eastSpec === undefined) throw new Error("two groups expected");
    expect(() => checkManifestAgainstGroup(east, eastSpec)).not.toThrow();
    expect(() => checkManifestAgainstGroup(west, eastSpec)).toThrowError('group "west" is named "east" on the chain');
  });
});
