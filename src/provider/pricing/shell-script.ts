import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { DEC_ONE, type Dec, decFloor, formatDec, tryParseDec } from "../../util/index.ts";
import type { RowNeed } from "../inventory/index.ts";
import type { PriceRequest, PricingStrategy } from "./strategy.ts";

export interface ScriptOptions {
  readonly path: string;
  /** Scripts that may run at the same time. */
  readonly processLimit: number;
  readonly timeoutMs: number;
}

const MAX_OUTPUT = 4096;

/** Asks an executable: the order as JSON on its standard input, the price per block on its standard output. */
export function scriptPricing(options: ScriptOptions): PricingStrategy {
  try {
    accessSync(options.path, constants.X_OK);
  } catch {
    throw new Error(`--bid-price-script-path: ${options.path || "(empty)"} is not an executable file`);
  }
  let running = 0;
  const waiting: (() => void)[] = [];
  const enter = async (): Promise<void> => {
    while (running >= options.processLimit) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
  };
  const leave = (): void => {
    running -= 1;
    waiting.shift()?.();
  };
  return {
    description: `shellScript: ${options.path}`,
    async price(request) {
      await enter();
      try {
        return parsePrice(await runScript(options, request));
      } finally {
        leave();
      }
    },
  };
}

/** As calculators print them: `.5`, and with any number of decimals. */
const PRICE = /^\+?(\d{0,78})(?:\.(\d{1,4000}))?$/;
const DEC_DIGITS = 18;

/** Rounded up at the last decimal that the chain has, so that the bid is never below what the script asks. */
function parsePrice(output: string): Dec {
  const [text = "", whole = "", decimals = ""] = PRICE.exec(output.trim()) ?? [];
  const kept = tryParseDec(`${whole || "0"}.${decimals.slice(0, DEC_DIGITS) || "0"}`) ?? 0n;
  const price = kept + (/[1-9]/.test(decimals.slice(DEC_DIGITS)) ? 1n : 0n);
  if (text === "" || price <= 0n)
    throw new Error(`the price script printed "${output.trim().slice(0, 80)}", not a price`);
  return price;
}

/** The script runs in its own process group, so that its children end with it. */
function runScript({ path, timeoutMs }: ScriptOptions, request: PriceRequest): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { ...scriptEnvironment(process.env), SVC_OWNER: request.owner, SVC_DENOM: request.denom };
    const child = spawn(path, [], { stdio: ["pipe", "pipe", "ignore"], detached: true, env });
    const kill = () => {
      killGroup(child.pid);
      // A process that left the group may hold the output open; the script has ended all the same.
      child.stdout.destroy();
    };
    const timer = setTimeout(kill, timeoutMs);
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
      if (output.length > MAX_OUTPUT) kill();
    });
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(new Error(`the price script did not start: ${error.message}`));
    });
    // Processes left in the script's group end with it, and no longer hold the output open.
    child.on("exit", () => killGroup(child.pid));
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve(output);
      else reject(new Error(`the price script ended with ${signal === null ? `code ${code}` : `signal ${signal}`}`));
    });
    // A script that does not read its input is not an error.
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(scriptInput(request)));
  });
}

/** Variables for the script: for system programs, proxies, and the operator's own. */
const PASSED_ON =
  /^(PATH|HOME|USER|TZ|LANG|LC_[A-Z]+|TMPDIR|(https?|no)_proxy|(HTTPS?|NO)_PROXY|SVC_PRICE_[A-Z0-9_]+)$/;

/** No passphrase and no key of the provider reaches a script. */
export function scriptEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => PASSED_ON.test(name)));
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // The group has ended by itself.
  }
}

/** Models by vendor as deployment files have them; a vendor without models takes any. */
function gpuVendors({ gpuKinds }: RowNeed): Record<string, object[]> {
  const vendors = new Map<string, object[]>();
  for (const { vendor, model, ...rest } of gpuKinds) {
    const models = vendors.get(vendor) ?? [];
    vendors.set(vendor, model === "*" ? models : [...models, { model, ...rest }]);
  }
  // Orders name vendors freely, even like an object's built-in properties.
  return Object.fromEntries(vendors);
}

/** Amounts that fit are numbers: scripts do arithmetic with them. */
function scriptInput({ rows, denom, maxPrice }: PriceRequest): object {
  return {
    resources: rows.map((row) => ({
      memory: Number(row.memory),
      cpu: Number(row.cpu),
      gpu: { units: Number(row.gpu), ...(row.gpu === 0n ? {} : { attributes: { vendor: gpuVendors(row) } }) },
      storage: row.volumes.map((volume) => ({
        class: volume.persistent ? volume.class : "ephemeral",
        size: Number(volume.bytes),
      })),
      count: Number(row.count),
      endpoint_quantity: row.endpoints,
      ip_lease_quantity: row.leasedIps.length,
    })),
    price: { denom, amount: maxPrice % DEC_ONE === 0n ? decFloor(maxPrice).toString() : formatDec(maxPrice) },
    price_precision: 6,
  };
}
