import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { type PageProps, route } from "../live/route.ts";
import { Boundary, Missing } from "../parts/fault.tsx";
import { t } from "../text/index.ts";
import { Home } from "./home.tsx";
import { Search } from "./search.tsx";

type Page = ComponentType<PageProps>;

/** Pages by the first word of their address; all but the first page are loaded when they are opened. */
const PAGES: Readonly<Record<string, () => Promise<Page>>> = {
  blocks: async () => (await import("./blocks.tsx")).Blocks,
  block: async () => (await import("./blocks.tsx")).Block,
  tx: async () => (await import("./tx.tsx")).Tx,
  account: async () => (await import("./account.tsx")).Account,
  validators: async () => (await import("./staking.tsx")).Validators,
  validator: async () => (await import("./staking.tsx")).Validator,
  gov: async () => (await import("./gov.tsx")).Gov,
  providers: async () => (await import("./providers.tsx")).Providers,
  provider: async () => (await import("./providers.tsx")).Provider,
  deployments: async () => (await import("./deployments.tsx")).Deployments,
  deployment: async () => (await import("./deployments.tsx")).Deployment,
  operator: async () => (await import("../operator/page.tsx")).Operator,
  deploy: async () => (await import("../deploy/page.tsx")).Deploy,
  deploying: loadDeploying,
  wallet: async () => (await import("./wallet.tsx")).WalletPage,
  network: async () => (await import("./network.tsx")).Network,
};

/** The page of a deployment on its way offers the ways to connect an account of the page Wallet. */
async function loadDeploying(): Promise<Page> {
  const [{ Deploying }, { Choose }] = await Promise.all([
    import("../deploy/run/page.tsx"),
    import("../account/choose.tsx"),
  ]);
  return (props) => <Deploying {...props} Connect={Choose} />;
}

/** The page of the current address. */
export function Routed() {
  const [first = "", ...words] = route.value.words;
  // Without an account it is the page of the operator's own provider.
  const name = first === "provider" && words.length === 0 ? "operator" : first;
  const load = Object.hasOwn(PAGES, name) ? PAGES[name] : undefined;
  // Another address is another page: nothing of the one before stays.
  const key = route.value.words.join("/");
  return (
    <Boundary key={key}>{load === undefined ? <First name={name} /> : <Lazy load={load} words={words} />}</Boundary>
  );
}

/** Pages that are there at once. */
function First({ name }: { name: string }) {
  if (name === "") return <Home />;
  return name === "search" ? <Search /> : <Missing />;
}

function Lazy({ load, words }: { load: () => Promise<Page> } & PageProps) {
  const page = useSignal<Page | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  useEffect(() => {
    load().then(
      (found) => {
        page.value = found;
      },
      (reason: unknown) => {
        error.value = reason;
      },
    );
  }, [load]);
  if (error.value !== undefined) throw error.value;
  const Found = page.value;
  return Found === undefined ? <p class="waiting">{t.state.loading} …</p> : <Found words={words} />;
}
