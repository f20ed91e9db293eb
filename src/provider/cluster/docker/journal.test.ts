import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sampleService, sampleSpec } from "../../../../test/support/conformance/index.ts";
import { flipBits } from "../../../../test/support/provider/damage.ts";
import { Rng } from "../../../../test/support/rng.ts";
import { silentLogger } from "../../../util/index.ts";
import { leaseNamespace } from "../contract/names.ts";
import { decode, encode, Journal, type LeaseRecord } from "./journal.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-journal-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function record(): LeaseRecord {
  const spec = sampleSpec([sampleService("docker.io/library/app:1")], { hosts: new Map([["web", ["a.test"]]]) });
  return {
    spec,
    images: { web: { reference: "r", imageId: "i", generation: 1 } },
    earlier: ["h"],
    volumes: ["web-0.data"],
    failed: {},
    closing: false,
  };
}

describe("journal of leases", () => {
  it("gives back what was saved, readable by its owner alone", async () => {
    const journal = new Journal(folder, silentLogger);
    expect(await journal.load()).toEqual([]);
    const saved = record();
    await journal.save(saved);
    expect(await new Journal(folder, silentLogger).load()).toEqual([saved]);
    const path = join(folder, `${leaseNamespace(saved.spec.id)}.json`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await journal.remove(leaseNamespace(saved.spec.id));
    expect(readdirSync(folder)).toEqual([]);
  });

  it("leaves a file it cannot read where it is, reports it, and loads the others", async () => {
    const journal = new Journal(folder, silentLogger);
    const sound = record();
    await journal.save(sound);
    const torn = join(folder, "torn.json");
    writeFileSync(torn, '{"format":1,"spec":{');
    writeFileSync(join(folder, "future.json"), '{"format":99}');
    const told: string[] = [];
    const log = { ...silentLogger, error: (_message: string, fields = {}) => told.push(JSON.stringify(fields)) };
    expect(await new Journal(folder, log).load()).toEqual([sound]);
    expect(told).toHaveLength(2);
    expect(readFileSync(torn, "utf8")).toBe('{"format":1,"spec":{');
  });

  it("takes the volumes of services that have run for made, where an older release noted none", () => {
    const volume = { name: "data", size: { val: "1048576" }, attributes: [{ key: "persistent", value: "true" }] };
    const params = { storage: [{ name: "data", mount: "/data", readOnly: false }] };
    const [db, next] = ["db", "next"].map((name) => {
      const service = sampleService("docker.io/library/app:1", { name, count: 2, params });
      return { ...service, resources: { ...service.resources, storage: [...service.resources.storage, volume] } };
    });
    if (db === undefined || next === undefined) throw new Error("the lease has no services");
    const images = { db: { reference: "r", imageId: "i", generation: 1 } };
    const [text = ""] = encode({ ...record(), spec: sampleSpec([db, next]), images }).split("\n");
    expect(decode(text.replace('"volumes":["web-0.data"],', "")).volumes).toEqual(["db-0.data", "db-1.data"]);
  });

  it("ignores the draft of a write that a crash cut short", async () => {
    const journal = new Journal(folder, silentLogger);
    const saved = record();
    await journal.save(saved);
    writeFileSync(join(folder, ".tmp-1"), "{");
    expect(await journal.load()).toEqual([saved]);
  });

  it("saves where something else than a file stands", async () => {
    const journal = new Journal(folder, silentLogger);
    const saved = record();
    const path = join(folder, `${leaseNamespace(saved.spec.id)}.json`);
    mkdirSync(join(path, "inside"), { recursive: true });
    expect(await journal.load()).toEqual([]);
    await journal.save(saved);
    expect(await journal.load()).toEqual([saved]);
    await journal.remove(leaseNamespace(saved.spec.id));
    expect(readdirSync(folder)).toEqual([]);
  });

  it("takes no change of a file for what was saved", async () => {
    const rng = new Rng(Math.floor(Math.random() * 2 ** 32));
    const journal = new Journal(folder, silentLogger);
    const saved = record();
    for (let round = 0; round < 60; round++) {
      await journal.save(saved);
      const change = flipBits(join(folder, `${leaseNamespace(saved.spec.id)}.json`), (count) => rng.below(count));
      expect([[], [saved]], `seed ${rng.seed}: ${change}`).toContainEqual(await journal.load());
    }
  });
});
