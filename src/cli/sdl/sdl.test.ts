import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../../../test/cli/run.ts";
import { NodeDouble } from "../../../test/support/node-double.ts";
import { loadSdlFile, SdlError } from "../../sdl/index.ts";
import { EXIT } from "../../util/index.ts";
import { Query } from "../../wire/gen/svc/deployment/v1beta1/query_pb.js";
import { sdlHash, sdlManifest, sdlValidate } from "./sdl.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const EXAMPLES = join(ROOT, "examples");
const WEB = join(ROOT, "test/vectors/sdl/web.yaml");
const directory = mkdtempSync(join(tmpdir(), "svc-sdl-"));
afterAll(() => rmSync(directory, { recursive: true }));

function write(name: string, content: string | Uint8Array): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

function capture() {
  const texts = { out: "", err: "" };
  const io = {
    out(text: string): void {
      texts.out += text;
    },
    err(text: string): void {
      texts.err += text;
    },
  };
  return { texts, io };
}

describe("the examples", () => {
  const names = readdirSync(EXAMPLES).filter((name) => name.endsWith(".yaml"));

  it("are of the six usual kinds", () => {
    expect(names).toEqual([
      "env-command-args.yaml",
      "node-port-tcp.yaml",
      "persistent.yaml",
      "replicas.yaml",
      "two-services.yaml",
      "web.yaml",
    ]);
  });

  it.each(names)("%s is valid without warnings", (name) => {
    const { texts, io } = capture();
    expect(sdlValidate(join(EXAMPLES, name), io)).toBe(EXIT.done);
    expect(texts.out).toMatch(/: ok \(version 2\.0, 1 group, \d services?, \d replicas?\)\n$/);
    expect(texts.err).toBe("");
  });

  it.each(names)("%s is small, and runs the image that is built locally", (name) => {
    for (const { image, resources } of loadSdlFile(join(EXAMPLES, name)).manifest.flatMap((group) => group.services)) {
      expect(image).toBe("localhost/svc-sample:latest");
      expect(resources.cpu.units.val).toBe("100");
      expect(Number(resources.memory.size.val)).toBeLessThanOrEqual(64 * 1024 ** 2);
    }
  });
});

describe("sdl hash and sdl manifest", () => {
  it("print what is recorded", () => {
    const { texts, io } = capture();
    sdlHash(WEB, io);
    sdlManifest(WEB, io);
    const recorded = (end: string) => readFileSync(WEB.replace(/yaml$/, end), "utf8").trim();
    expect(texts).toEqual({ out: `${recorded("sha256")}\n${recorded("json")}\n`, err: "" });
  });

  it("refuse a broken file and print nothing", () => {
    const path = write("broken.yaml", readFileSync(WEB, "utf8").replace("count: 1", "count: 0"));
    const { texts, io } = capture();
    expect(() => sdlHash(path, io)).toThrow(SdlError);
    expect(() => sdlManifest(path, io)).toThrow(SdlError);
    expect(texts).toEqual({ out: "", err: "" });
  });
});

describe("sdl validate", () => {
  const broken = readFileSync(WEB, "utf8").replace("count: 1", "count: 0").replace("64Mi", "64mb");

  it("prints every fault on a line with its place, and fails", () => {
    const path = write("faults.yaml", broken);
    const { texts, io } = capture();
    expect(sdlValidate(path, io)).toBe(EXIT.failed);
    expect(texts.out).toBe("");
    expect(texts.err.split("\n")).toEqual([
      `Error: ${path}:17:17: profiles.compute.web.resources.memory.size: "64mb" is not a size; write 64M`,
      `Error: ${path}:30:14: deployment.web.anywhere.count: 0 is not a number of replicas; write a whole number from 1 to 50`,
      "",
    ]);
  });

  it("prints warnings on standard error and succeeds", () => {
    const path = write(
      "warning.yaml",
      readFileSync(WEB, "utf8").replace("    expose:", "    restart: always\n    expose:"),
    );
    const { texts, io } = capture();
    expect(sdlValidate(path, io)).toBe(EXIT.done);
    expect(texts.out).toBe(`${path}: ok (version 2.0, 1 group, 1 service, 1 replica)\n`);
    expect(texts.err).toMatch(/^Warning: .*:5:5: services\.web\.restart: /);
  });

  it("speaks JSON", () => {
    const { texts, io } = capture();
    expect(sdlValidate(write("json.yaml", broken), io, { output: "json" })).toBe(EXIT.failed);
    expect(JSON.parse(texts.out)).toMatchObject({ ok: false, errors: [{ line: 17, column: 17 }, { line: 30 }] });
    const good = capture();
    expect(sdlValidate(WEB, good.io, { output: "json" })).toBe(EXIT.done);
    expect(JSON.parse(good.texts.out)).toMatchObject({
      ok: true,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      warnings: [],
    });
  });
});

describe("sdl validate --node", () => {
  const text = readFileSync(WEB, "utf8").replace("denom: utoken", "denom: uakt");
  let node: NodeDouble;
  beforeAll(async () => {
    node = new NodeDouble();
    await node.start();
    const params = { minDeposits: [{ denom: "utoken", amount: "1" }], minStartBlocks: 1n };
    node.answerQuery(Query.method.params, () => ({ params }));
  });
  afterAll(() => node.stop());

  it("refuses what cannot be ordered on the chain of the node, which is a warning without it", async () => {
    const path = write("foreign.yaml", text);
    const problem = `${path}:23:9: profiles.placement.anywhere.pricing.web: prices and deposits are not in "uakt"`;
    const alone = await runCli(["sdl", "validate", path], { env: { SVC_NODE: "tcp://localhost:1" } });
    expect(alone).toMatchObject({
      code: 0,
      out: expect.stringContaining(": ok ("),
      err: expect.stringContaining(problem),
    });
    expect(alone.err).toMatch(/^Warning: /);
    const there = await runCli(["sdl", "validate", path, "--node", node.address]);
    expect(there).toMatchObject({ code: 1, out: "" });
    expect(there.err).toMatch(/^Error: .* on this chain; write denom: utoken, and an amount in it\n$/);
    expect(await runCli(["sdl", "validate", WEB, "--node", node.address])).toMatchObject({ code: 0, err: "" });
  });
});

describe("a file", () => {
  it("that cannot be read is one clear sentence", () => {
    expect(() => loadSdlFile(join(directory, "none.yaml"))).toThrowError(/^cannot read the deployment file: ENOENT/);
    expect(() => loadSdlFile(directory)).toThrowError(/^cannot read the deployment file: .* is a directory/);
  });

  it("that is not UTF-8 is refused at the first wrong byte", () => {
    const path = write("latin1.yaml", Buffer.from('version: "2.0"\nservices: caf\u00e9\n', "latin1"));
    expect(() => loadSdlFile(path)).toThrowError(`${path}:2:14: the file is not UTF-8 text`);
  });

  it("that is too large is not read whole", () => {
    const path = write("large.yaml", Buffer.alloc(10_000_000, "# \n"));
    expect(() => loadSdlFile(path)).toThrowError(`${path}:1:1: the file is larger than 65536 bytes`);
  });
});
