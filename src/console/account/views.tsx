import type { ComponentType } from "preact";
import { useAsk } from "../live/ask.ts";
import { link } from "../live/route.ts";
import { Known } from "../parts/blocks.tsx";
import { views } from "../text/account.ts";

/** A page about the connected account. */
type View = ComponentType<{ address: string }>;

interface ViewRow {
  readonly word: string;
  readonly load: () => Promise<View>;
}

/** Pages of the connected account by the second word of their addresses, loaded when they are opened. */
const VIEWS: Readonly<Record<string, ViewRow>> = {
  stake: { word: views.stake, load: async () => (await import("./stake.tsx")).Stake },
  grants: { word: views.grants, load: async () => (await import("./grants.tsx")).Grants },
  certificates: { word: views.certificates, load: async () => (await import("./records.tsx")).Certificates },
  history: { word: views.history, load: async () => (await import("./records.tsx")).History },
  message: { word: views.message, load: async () => (await import("./message.tsx")).AnyMessage },
};

/** Links to the pages of the account; `view` is the word of the one that is shown. */
export function ViewLinks({ view }: { view: string }) {
  const all = [["", views.account] as const, ...Object.entries(VIEWS).map(([name, { word }]) => [name, word] as const)];
  return (
    <nav class="pages" aria-label={views.label}>
      {all.map(([name, word]) => (
        <a
          key={name}
          href={name === "" ? link("wallet") : link("wallet", name)}
          aria-current={name === view ? "page" : undefined}
        >
          {word}
        </a>
      ))}
    </nav>
  );
}

/** The page of a word; none has another word. */
export function AccountView({ view, address }: { view: string; address: string }) {
  const row = Object.hasOwn(VIEWS, view) ? VIEWS[view] : undefined;
  if (row === undefined) return <p class="none">{views.missing}</p>;
  return <Loaded key={view} load={row.load} address={address} />;
}

function Loaded({ load, address }: Pick<ViewRow, "load"> & { address: string }) {
  const answer = useAsk(load, { key: "view" });
  return <Known answer={answer}>{(Found) => <Found address={address} />}</Known>;
}
