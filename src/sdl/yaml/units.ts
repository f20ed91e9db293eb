import { type Dec, decFromInt, isDenom, tryParseDec } from "../../util/index.ts";
import { show } from "../errors.ts";
import type { Parsed } from "./fields.ts";

const DECIMAL_SUFFIXES = ["k", "M", "G", "T", "P", "E"] as const;

/** Bytes per unit. Case counts, and there is no `B`. */
const BYTE_SUFFIXES: ReadonlyMap<string, bigint> = new Map(
  DECIMAL_SUFFIXES.flatMap((letter, power): [string, bigint][] => [
    [letter, 1000n ** BigInt(power + 1)],
    [`${letter.toUpperCase()}i`, 1024n ** BigInt(power + 1)],
  ]),
);

const GIBIBYTE = 1024n ** 3n;
const NUMBER = /^(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})$/;
const NUMBER_AND_REST = /^([\d.]{1,40})\s*(\S{0,8})$/;

/** Bytes: `512Mi`, `1.5G`, `1000`. A fraction is multiplied as a double and cut, as the ecosystem's tools do. */
export function parseBytes(text: string): Parsed<bigint> {
  const [, digits = "", suffix = ""] = /^([\d.]{1,40})([a-zA-Z]{0,8})$/.exec(text) ?? [];
  const unit = suffix === "" ? 1n : BYTE_SUFFIXES.get(suffix);
  if (unit === undefined || !NUMBER.test(digits)) {
    return { problem: `${show(text)} is not a size`, remedy: sizeRemedy(text) };
  }
  if (/^\d+$/.test(digits)) return { value: BigInt(digits) * unit };
  return { value: BigInt(Math.trunc(Number(digits) * Number(unit))) };
}

function sizeRemedy(text: string): string {
  const general = "write a number with k, M, G, T, P, E (powers of 1000) or Ki, Mi, Gi, Ti, Pi, Ei (powers of 1024)";
  if (text.startsWith("-")) return "write a size above zero, for example 512Mi";
  const [, digits = "", unit = ""] = NUMBER_AND_REST.exec(text) ?? [];
  if (!NUMBER.test(digits)) return general;
  const word = /^([kmgtpe]?)(i?)(?:b|byte|bytes)?$/i.exec(unit);
  if (word === null) return general;
  const [, letter = "", binary = ""] = word;
  if (letter === "") return `write ${digits}`;
  const upper = letter.toUpperCase();
  if (binary !== "") return `write ${digits}${upper}i`;
  if (unit === "m") return `write ${digits}Mi (or ${digits}M)`;
  return `write ${digits}${upper === "K" ? "k" : upper}`;
}

/** Thousandths of a core: `0.5`, `2`, `"100m"`. The number times 1000 is cut as a double: 1.005 gives 1004. */
export function parseCpu(text: string): Parsed<bigint> {
  const milli = /^(\d{1,15})m$/.exec(text)?.[1];
  if (milli !== undefined) return { value: BigInt(milli) };
  if (NUMBER.test(text)) return { value: BigInt(Math.trunc(Number(text) * 1000)) };
  return { problem: `${show(text)} is not a number of cores`, remedy: cpuRemedy(text) };
}

function cpuRemedy(text: string): string {
  const general = 'write cores such as 0.5 or 2, or thousandths such as "500m"';
  const [, digits = "", unit = ""] = NUMBER_AND_REST.exec(text) ?? [];
  if (!NUMBER.test(digits)) return general;
  if (/^(m|mcpu|milli)$/i.test(unit)) {
    return digits.includes(".") ? `write ${Number(digits) / 1000}` : `write ${digits}m`;
  }
  return /^(c|cpus?|cores?|vcpus?)$/i.test(unit) ? `write ${digits}` : general;
}

/** Memory of a GPU in the form of attribute keys: whole `Gi`. */
export function parseGpuRam(text: string): Parsed<string> {
  const parsed = parseBytes(text);
  const binary = /[KMGTPE]i$/.test(text);
  if ("value" in parsed && binary && parsed.value >= GIBIBYTE) return { value: `${parsed.value / GIBIBYTE}Gi` };
  const digits = /^\d{1,6}/.exec(text)?.[0];
  return {
    problem: `${show(text)} is not the memory of a GPU`,
    remedy: `write whole gibibytes, for example ${digits === undefined || digits.startsWith("0") ? "80" : digits}Gi`,
  };
}

/** A price: decimal digits with at most 18 places, above zero and at most `max` whole units. */
export function parsePrice(text: string, max: bigint): Parsed<Dec> {
  const value = tryParseDec(text.replace(/^\./, "0."));
  if (value !== undefined && value > decFromInt(max)) {
    return { problem: `${show(text)} is above the highest price`, remedy: `write at most ${max}` };
  }
  if (value !== undefined && value > 0n && !/^0\d/.test(text)) return { value };
  return { problem: `${show(text)} is not a price`, remedy: priceRemedy(text, value) };
}

function priceRemedy(text: string, value: Dec | undefined): string {
  if (value !== undefined && value <= 0n) return "write a price above zero";
  if (/^0\d/.test(text)) return `write ${text.replace(/^0+(?=\d)/, "")}`;
  const [, digits, denom] = /^([\d.]{1,40})\s*([a-zA-Z][\w/:.-]{2,127})$/.exec(text) ?? [];
  const isExponent = /^e\d+$/i.test(denom ?? "");
  if (digits !== undefined && denom !== undefined && !isExponent) return `write amount: ${digits} and denom: ${denom}`;
  const plain = /^\d{1,6}(\.\d{1,6})?e\+?\d{1,2}$/i.test(text) ? Number(text) : undefined;
  if (plain !== undefined && Number.isSafeInteger(plain)) return `write ${plain}`;
  return "write digits with at most 18 decimals, for example 12.5";
}

export function parseDenom(text: string): Parsed<string> {
  if (isDenom(text)) return { value: text };
  return { problem: `${show(text)} is not a denomination`, remedy: "write the name of a coin, for example utoken" };
}

const DURATION_SECONDS: Readonly<Record<string, bigint>> = { s: 1n, m: 60n, h: 3600n };

/** Seconds of `30s`, `90m`, `24h`. */
export function parseWindow(text: string): Parsed<bigint> {
  const [, digits, unit = ""] = /^([1-9]\d{0,9})([smh])$/.exec(text) ?? [];
  const seconds = DURATION_SECONDS[unit];
  if (digits !== undefined && seconds !== undefined) return { value: BigInt(digits) * seconds };
  return {
    problem: `${show(text)} is not a time span`,
    remedy: "write a whole number above zero and s, m or h, for example 24h",
  };
}
