import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { DEC_ONE, parseDec } from "../../util/index.ts";
import type { RowNeed } from "../inventory/resources.ts";
import { parseScales, randomRangePricing, scalePricing, scriptPricing } from "./index.ts";
import { BLOCKS_PER_MONTH } from "./scale.ts";
import { scriptEnvironment } from "./shell-script.ts";

const dir = mkdtempSync(join(tmpdir(), "svc-pricing-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const MIB = 1n << 20n;
const row: RowNeed = {
  id: 1,
  count: 2n,
  cpu: 100n,
  memory: 64n * MIB,
  gpu: 0n,
  gpuKinds: [],
  volumes: [{ bytes: 128n * MIB, class: "", persistent: false }],
  endpoints: 1,
  ports: 0,
  leasedIps: [],
};
const request = { owner: "svc1x", rows: [row], denom: "utoken", maxPrice: 1000n * DEC_ONE };
const flags = { cpu: "0.01", memory: "0.001", storage: "0.0001,beta2=0.002", endpoint: "0.5", ip: "7" };

describe("scale pricing", () => {
  it("adds what each resource costs, replicas counted, endpoints once", async () => {
    const price = await scalePricing(parseScales(flags)).price(request);
    // 0.01 x 200 + 0.001 x 128 + 0.0001 x 256 + 0.5 x 1
    expect(price).toBe(parseDec("2.6536"));
  });

  it("prices persistent volumes by class and a shared address once", async () => {
    const rows = [{ ...row, volumes: [{ bytes: MIB, class: "beta2", persistent: true }], leasedIps: [1, 1] }];
    expect(await scalePricing(parseScales(flags)).price({ ...request, rows })).toBe(parseDec("9.632"));
  });

  it("rounds up at the last decimal", async () => {
    const only = { cpu: "0", memory: "0.000000000000000001", storage: "", endpoint: "0", ip: "0" };
    expect(await scalePricing(parseScales(only)).price({ ...request, rows: [{ ...row, memory: 1n, count: 1n }] })).toBe(
      1n,
    );
  });

  it.each([
    [{ ...flags, cpu: "-1" }, /--bid-price-cpu-scale/],
    [{ ...flags, storage: "beta1=x" }, /--bid-price-storage-scale/],
    [{ cpu: "0", memory: "", storage: "0", endpoint: "0", ip: "0" }, /at least one bid price/],
  ])("refuses %o", (bad, text) => {
    expect(() => parseScales(bad)).toThrow(text);
  });

  it("has no price for a class nobody configured", async () => {
    const rows = [{ ...row, volumes: [{ bytes: MIB, class: "beta3", persistent: true }] }];
    await expect(scalePricing(parseScales(flags)).price({ ...request, rows })).rejects.toThrow('storage class "beta3"');
  });
});

describe("prices in dollars a month", () => {
  const dollars = {
    cpu: "1.60usd",
    memory: "0.80usd",
    storage: "0.02usd,beta2=0.03usd",
    endpoint: "0.05usd",
    ip: "5usd",
  };
  const scales = parseScales({ ...dollars, tokenUsd: "2" });

  it("become prices per block", async () => {
    // A core with a GiB of memory and 10 GiB of disk, an endpoint and an address: 1.60 + 0.80 + 0.20 + 0.05 + 5 dollars.
    const whole = { ...row, count: 1n, cpu: 1000n, memory: 1024n * MIB, leasedIps: [1] };
    const volumes = [{ bytes: 10n * 1024n * MIB, class: "", persistent: false }];
    const price = await scalePricing(scales).price({ ...request, rows: [{ ...whole, volumes }] });
    const month = price * BLOCKS_PER_MONTH;
    const wanted = parseDec("3825000");
    expect(month >= wanted && month - wanted < parseDec("0.00001")).toBe(true);
  });

  it("may stand beside prices per block", () => {
    const mixed = parseScales({ ...dollars, cpu: "0.001", tokenUsd: "2" });
    expect(mixed.cpu).toBe(parseDec("0.001"));
    expect(mixed.storage.get("beta2")).toBe(scales.storage.get("beta2"));
  });

  it.each([
    [dollars, /--bid-price-cpu-scale is in dollars: .*--bid-price-token-usd/],
    [{ ...dollars, tokenUsd: "0" }, /--bid-price-token-usd takes a decimal above zero/],
    [{ ...dollars, tokenUsd: "-3" }, /--bid-price-token-usd/],
    [{ ...dollars, tokenUsd: "2", cpu: "usd" }, /--bid-price-cpu-scale takes a decimal/],
    [{ ...dollars, tokenUsd: "2", memory: "-1usd" }, /--bid-price-memory-scale/],
    [{ ...dollars, tokenUsd: "2", ip: "1 usd" }, /--bid-price-ip-scale/],
  ])("refuse %o", (bad, text) => {
    expect(() => parseScales(bad)).toThrow(text);
  });
});

describe("GPUs", () => {
  const gpuKinds = [{ vendor: "nvidia", model: "a100", ram: "80Gi" }];

  it("have no price in the scales", async () => {
    const price = scalePricing(parseScales(flags)).price({ ...request, rows: [{ ...row, gpu: 1n, gpuKinds }] });
    await expect(price).rejects.toThrow("no pricing configured for GPUs");
  });

  it("are passed to scripts with their models", async () => {
    const [seen, path] = [join(dir, "gpu.json"), join(dir, "gpu.sh")];
    writeFileSync(path, `#!/bin/sh\ncat > ${seen}\necho 5\n`);
    chmodSync(path, 0o755);
    const any = { ...row, gpu: 1n, gpuKinds: [{ vendor: "nvidia", model: "*" }] };
    const odd = { ...row, gpu: 1n, gpuKinds: [{ vendor: "constructor", model: "x" }] };
    const rows = [row, any, { ...row, gpu: 2n, gpuKinds }, odd];
    await scriptPricing({ path, processLimit: 1, timeoutMs: 10_000 }).price({ ...request, rows });
    const { resources } = JSON.parse(readFileSync(seen, "utf8"));
    expect(resources.map(({ gpu }: { gpu: object }) => gpu)).toEqual([
      { units: 0 },
      { units: 1, attributes: { vendor: { nvidia: [] } } },
      { units: 2, attributes: { vendor: { nvidia: [{ model: "a100", ram: "80Gi" }] } } },
      { units: 1, attributes: { vendor: Object.fromEntries([["constructor", [{ model: "x" }]]]) } },
    ]);
  });
});

describe("random pricing", () => {
  it("stays between its bounds", async () => {
    const low = await randomRangePricing(() => 0n).price(request);
    const high = await randomRangePricing(() => (1n << 64n) - 1n).price(request);
    expect(low).toBe(parseDec("6.25"));
    expect(high <= request.maxPrice && high > low).toBe(true);
  });
});

describe("script pricing", () => {
  const script = (body: string): string => {
    const path = join(dir, `price-${Math.abs(body.length)}-${body.charCodeAt(0)}.sh`);
    writeFileSync(path, `#!/bin/sh\n${body}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const run = (body: string, timeoutMs = 5000) =>
    scriptPricing({ path: script(body), processLimit: 2, timeoutMs }).price(request);

  it("hands over the order and takes the number printed", async () => {
    expect(await run("grep -q '\"cpu\":100,' && echo 1.5")).toBe(parseDec("1.5"));
    expect(await run('test "$SVC_OWNER$SVC_DENOM" = svc1xutoken && echo 3')).toBe(parseDec("3"));
  });

  it("takes numbers as calculators print them, with any number of decimals, rounded up", async () => {
    expect(await run("echo .5")).toBe(parseDec("0.5"));
    expect(await run("echo 1.25000000000000000000")).toBe(parseDec("1.25"));
    expect(await run("echo 0.00000000000000000000001")).toBe(1n);
    expect(await run("echo 2.000000000000000000999")).toBe(parseDec("2.000000000000000001"));
    expect(await run("echo +7")).toBe(parseDec("7"));
  });

  it("has no price when the script fails, prints nonsense or hangs", async () => {
    await expect(run("exit 3")).rejects.toThrow("code 3");
    await expect(run("echo cheap")).rejects.toThrow("not a price");
    await expect(run("sleep 30", 200)).rejects.toThrow("signal SIGKILL");
  });

  it("gives the script nothing of the provider's environment but what is meant for it", async () => {
    const given = {
      SVC_KEYRING_PASSPHRASE: "secret",
      SVC_HOME: "/x",
      NODE_OPTIONS: "-r x",
      SVC_PRICE_TOKEN: "t",
      PATH: "/bin",
    };
    expect(scriptEnvironment(given)).toEqual({ SVC_PRICE_TOKEN: "t", PATH: "/bin" });
    process.env.SVC_TEST_SECRET = "secret";
    try {
      expect(
        await run('[ -z "$SVC_TEST_SECRET" ] && [ "$SVC_OWNER" = svc1x ] && [ "$SVC_DENOM" = utoken ] && echo 3'),
      ).toBe(parseDec("3"));
    } finally {
      delete process.env.SVC_TEST_SECRET;
    }
  });

  it("ends what a script left running in its group, at once", async () => {
    const left = join(dir, "left-in-group");
    const price = await run(`sleep 1000 & echo $! > ${left}; echo 4`, 60_000);
    expect(price).toBe(parseDec("4"));
    const pid = Number(readFileSync(left, "utf8"));
    const lives = () => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.[0] !== "Z";
    await expect
      .poll(() => {
        try {
          return lives();
        } catch {
          return false;
        }
      })
      .toBe(false);
  });

  it("takes no more than a page of output, and only a single number", async () => {
    await expect(run("while :; do echo 11111111111111111111; done")).rejects.toThrow("signal SIGKILL");
    for (const text of ["-1", "0", "0.000", "-.5", ".", "1.", "1e9", "0x10", "1 2", "1,5", "NaN", "Infinity", ""]) {
      await expect(run(`printf '%s' '${text}'`), text).rejects.toThrow("not a price");
    }
  });

  it("does not wait for what a script left running in a session of its own", async () => {
    const left = join(dir, "left");
    expect(
      await run(`setsid sh -c 'echo $$ > ${left}; exec sleep 1000' & while [ ! -s ${left} ]; do :; done; echo 2`, 2000),
    ).toBe(parseDec("2"));
    process.kill(Number(readFileSync(left, "utf8")), "SIGKILL");
  });

  it("runs no more scripts at once than it may", async () => {
    const log = join(dir, "running");
    const path = script(`echo + >> ${log}; sleep 0.05; echo - >> ${log}; echo 1`);
    const pricing = scriptPricing({ path, processLimit: 2, timeoutMs: 30_000 });
    await Promise.all(Array.from({ length: 6 }, () => pricing.price(request)));
    const marks = readFileSync(log, "utf8").trim().split("\n");
    const running = marks.map((_, i) => marks.slice(0, i + 1).reduce((sum, mark) => sum + (mark === "+" ? 1 : -1), 0));
    expect(marks).toHaveLength(12);
    expect(Math.max(...running)).toBeLessThanOrEqual(2);
  });

  it("refuses a path that cannot run", () => {
    expect(() => scriptPricing({ path: join(dir, "none"), processLimit: 1, timeoutMs: 1 })).toThrow(
      "not an executable",
    );
  });
});
