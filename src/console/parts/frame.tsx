import { computed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { chainId, doubt, newest, paused, skewMs } from "../live/blocks/head.ts";
import { lost, session } from "../live/chain.ts";
import { link, route } from "../live/route.ts";
import { t } from "../text/index.ts";
import { grouped, Strange } from "./text.tsx";

const NAVIGATION = [
  ["", t.nav.home],
  ["blocks", t.nav.blocks],
  ["deploy", t.nav.deploy],
  ["deployments", t.nav.deployments],
  ["providers", t.nav.providers],
  ["validators", t.nav.validators],
  ["gov", t.nav.gov],
  ["network", t.nav.network],
  ["wallet", t.nav.wallet],
] as const;

const height = computed(() => (newest.value === undefined ? "–" : grouped(newest.value.height)));
const state = computed(() => {
  if (lost.value !== undefined) return "lost";
  if (newest.value === undefined) return "connecting";
  return paused.value ? "paused" : "live";
});
const stateWord = computed(() => t.bar[state.value]);
const pauseWord = computed(() => (paused.value ? t.bar.resume : t.bar.pause));

/** The surroundings of every page: navigation, search, the live height and its state. */
export function Frame({ children }: { children: ComponentChildren }) {
  return (
    <>
      <button type="button" class="skip" onClick={skip}>
        {t.nav.skip}
      </button>
      <header class="top">
        <a class="brand" href={link()}>
          svc <Chain />
        </a>
        <Search />
        <Live />
      </header>
      <Navigation />
      <Notices />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <footer>
        {t.bar.believed("")}
        <Strange text={session.value?.node ?? t.bar.thisNode} isName max={200} />
      </footer>
    </>
  );
}

/** The address after the # belongs to the pages, so the jump is made by hand. */
function skip(): void {
  document.getElementById("main")?.focus();
}

function Chain() {
  return <small>{chainId.value === undefined ? "" : <Strange text={chainId.value} isName max={60} />}</small>;
}

function Navigation() {
  const page = route.value.words[0] ?? "";
  return (
    <nav aria-label={t.nav.label}>
      {NAVIGATION.map(([name, word]) => (
        <a key={name} href={name === "" ? link() : link(name)} aria-current={name === page ? "page" : undefined}>
          {word}
        </a>
      ))}
      {session.value?.provider !== undefined && (
        <a
          href={link("provider")}
          aria-current={page === "provider" && route.value.words.length === 1 ? "page" : undefined}
        >
          {t.nav.operator}
        </a>
      )}
    </nav>
  );
}

function Search() {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const text = form instanceof HTMLFormElement ? new FormData(form).get("q") : undefined;
    if (typeof text === "string" && text.trim() !== "")
      location.hash = `${link("search")}?q=${encodeURIComponent(text)}`;
  };
  return (
    <search>
      <form onSubmit={submit}>
        <input type="search" name="q" aria-label={t.bar.search} placeholder={t.bar.searchHint} maxLength={400} />
      </form>
    </search>
  );
}

/** Each changing word is a signal of its own: a block changes two text nodes. */
function Live() {
  return (
    <div class="live">
      <span class="label">{t.bar.height}</span>
      <a class="number" id="height" href={link("blocks")}>
        {height}
      </a>
      <span class="link" data-state={state}>
        {stateWord}
      </span>
      <button type="button" title={t.bar.pauseHint} aria-pressed={paused} onClick={toggle}>
        {pauseWord}
      </button>
    </div>
  );
}

function toggle(): void {
  paused.value = !paused.value;
}

function Notices() {
  const [suspect, skew] = [doubt.value, skewMs.value];
  return (
    <div aria-live="polite">
      {lost.value !== undefined && (
        <p class="notice">
          {t.notice.lost} <Strange text={lost.value.message} max={300} />
        </p>
      )}
      {suspect !== undefined && <p class="notice bad">{t.notice.other(suspect.was, suspect.is)}</p>}
      {skew !== undefined && <p class="notice bad">{skew > 0 ? t.notice.fast : t.notice.slow}</p>}
    </div>
  );
}
