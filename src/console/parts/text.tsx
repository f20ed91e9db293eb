import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { DISPLAY_DENOM, DISPLAY_EXPONENT, type IntCoin, NATIVE_DENOM, tryParseInt } from "../../util/index.ts";
import { link } from "../live/route.ts";
import { t } from "../text/index.ts";
import { safe, safeUrl } from "./safe.ts";

/** A text that somebody else wrote. */
export function Strange({ text, isName = false, max }: { text: string; isName?: boolean; max?: number }) {
  if (text === "") return <None />;
  const shown = safe(text, max === undefined ? { isName } : { isName, max });
  return (
    <span class={isName ? "name" : "strange"}>
      {shown.text}
      {shown.cut > 0 && <em class="cut"> … {t.value.cut(shown.cut)}</em>}
    </span>
  );
}

/** A hash, an address that is no link, or the like. */
export function Code({ text }: { text: string }) {
  if (text === "") return <None />;
  return <span class="code">{safe(text, { isName: true, max: 200 }).text}</span>;
}

/** A link to a page outside, with the whole target in view; over HTTP only with `isPlain`, for a tenant's own services. */
export function Out({ url, isPlain = false }: { url: string; isPlain?: boolean }) {
  const href = safeUrl(url, { isPlain });
  if (href === undefined) return <Strange text={url} isName max={500} />;
  return (
    <a href={href} rel="noopener noreferrer" target="_blank">
      {safe(href, { isName: true }).text}
    </a>
  );
}

/** The page of an account or of a validator, by the form of the address. */
export function Address({ text }: { text: string }) {
  if (text === "") return <None />;
  if (!/^[a-z]{1,20}1[a-z0-9]{38,90}$/.test(text)) return <Strange text={text} isName max={200} />;
  const page = text.includes("valoper1") ? "validator" : "account";
  return (
    <a class="code" href={link(page, text)}>
      {text}
    </a>
  );
}

export function Height({ height }: { height: bigint }) {
  if (height === 0n) return <None />;
  return (
    <a class="number" href={link("block", height)}>
      {grouped(height)}
    </a>
  );
}

export function None() {
  return <span class="none">–</span>;
}

/** A moment in the reader's clock; RFC 3339 and the height appear on hover. */
export function Time({ time, height }: { time: string | Date | undefined; height?: bigint }) {
  const shown = timeOf(time, height);
  if (shown === undefined) return <None />;
  return (
    <time dateTime={shown.iso} title={shown.title}>
      {shown.text}
    </time>
  );
}

interface ShownTime {
  readonly iso: string;
  readonly title: string;
  readonly text: string;
}

/** The texts of a moment; undefined if it is none. */
export function timeOf(time: string | Date | undefined, height?: bigint): ShownTime | undefined {
  const date = time instanceof Date ? time : new Date(time ?? Number.NaN);
  if (Number.isNaN(date.getTime())) return undefined;
  const iso = date.toISOString();
  return { iso, title: `${iso}${height === undefined ? "" : `, ${t.value.height(height)}`}`, text: clock.format(date) };
}

const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** `1 234 567` with narrow spaces. */
export function grouped(value: bigint | number | string): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** Characters of an amount with its denomination: the chain has 78 digits and 128 characters. */
const MAX_RAW = 300;

type AnyCoin = Pick<IntCoin, "denom"> & { readonly amount: bigint | string };

/** An amount in whole tokens, with the raw value on hover. `scale` says how many decimal places the raw value has. */
export function Amount({ coin, scale = 0 }: { coin: AnyCoin | undefined; scale?: number }) {
  if (coin === undefined) return <None />;
  const raw = `${coin.amount}${scale === 0 ? "" : `e-${scale}`} ${safe(coin.denom, { isName: true }).text}`;
  const value = raw.length > MAX_RAW ? undefined : tryParseInt(String(coin.amount));
  if (value === undefined) return <Strange text={raw} isName max={200} />;
  const isOwn = coin.denom === NATIVE_DENOM;
  return (
    <span class="amount" title={raw}>
      {decimal(value, scale + (isOwn ? DISPLAY_EXPONENT : 0))}{" "}
      <small>{isOwn ? DISPLAY_DENOM : safe(coin.denom, { isName: true, max: 128 }).text}</small>
    </span>
  );
}

const MAX_PLACES = 9;

/** A whole number of units of 10^-places; cut after nine places, where a trailing … says so. */
export function decimal(value: bigint, places: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(places + 1, "0");
  const whole = grouped(digits.slice(0, digits.length - places));
  const rest = digits.slice(digits.length - places).replace(/0+$/, "");
  const shown = rest.slice(0, MAX_PLACES);
  return `${value < 0n ? "−" : ""}${whole}${shown === "" ? "" : `.${shown}`}${rest.length > MAX_PLACES ? "…" : ""}`;
}

/** Several amounts below one another. */
export function Amounts({ coins, scale = 0 }: { coins: readonly AnyCoin[]; scale?: number }) {
  if (coins.length === 0) return <None />;
  return (
    <span class="stack">
      {coins.slice(0, 50).map((coin) => (
        <Amount key={coin.denom} coin={coin} scale={scale} />
      ))}
      {coins.length > 50 && <em class="cut">{t.value.items(coins.length - 50)}</em>}
    </span>
  );
}

/** A share as a percentage of one decimal place, from digits times 10^18. */
export function percent(digits: string | bigint): string {
  const text = String(digits);
  const value = text.length > MAX_RAW ? undefined : tryParseInt(text);
  return value === undefined ? "–" : `${decimal(value / 10n ** 14n, 2)} %`;
}

/** A state in one word, coloured by what it means. */
export function State({ word, kind = "calm" }: { word: string; kind?: "good" | "bad" | "calm" }) {
  return <span class={`state ${kind}`}>{safe(word, { isName: true, max: 60 }).text}</span>;
}

/** The title of a page, in its text and in the browser's list of pages. */
export function Heading({ title, children }: { title: string; children?: ComponentChildren }) {
  useEffect(() => {
    document.title = `${title} – svc`;
  }, [title]);
  return (
    <header class="heading">
      <h1>{title}</h1>
      {children}
    </header>
  );
}
