import { useSignal } from "@preact/signals";
import { jwtErrors } from "../../../crypto/index.ts";
import { formatCoin, type IntCoin } from "../../../util/index.ts";
import { useAsk } from "../../live/ask.ts";
import { chainId } from "../../live/blocks/head.ts";
import { link } from "../../live/route.ts";
import { wallet } from "../../live/wallet.ts";
import { Connect } from "../../parts/act.tsx";
import { Command, Known, Section } from "../../parts/blocks.tsx";
import { Fault } from "../../parts/fault.tsx";
import { Strange, Time } from "../../parts/text.tsx";
import { deploy } from "../../text/deploy.ts";
import { t } from "../../text/index.ts";
import { draft, settled } from "../draft.ts";
import { keepRun, keptRuns, type RunRecord } from "./records.ts";

/** Deploys the file of the page by the connected account; `deposit` is undefined while none, or no amount, is written. */
export function Start({ deposit, isDeposit }: { deposit: IntCoin | undefined; isDeposit: boolean }) {
  const error = useSignal<unknown>(undefined);
  const isChosen = useSignal(false);
  const isBegun = useSignal(false);
  const account = wallet.value;
  if (account === undefined) return <Connect />;
  if (account.lacks.transaction !== undefined) return <p class="none">{t.wallet.lacks[account.lacks.transaction]}</p>;
  const { address } = account;
  // A text that was typed just now is not read yet.
  const isSettled = draft.value.text === settled.value.text;
  const own = deposit === undefined ? {} : { deposit };
  const start = async (): Promise<void> => {
    if (isBegun.peek()) return;
    isBegun.value = true;
    try {
      location.hash = link("deploying", await begin({ owner: address, isChosen: isChosen.peek(), ...own }));
    } catch (reason) {
      error.value = reason;
      isBegun.value = false;
    }
  };
  return (
    <form
      class="act"
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <fieldset class="choice">
        <legend>{deploy.choice}</legend>
        {[false, true].map((own) => (
          <label key={String(own)}>
            <input
              type="radio"
              name="choice"
              checked={isChosen.value === own}
              onChange={() => {
                isChosen.value = own;
              }}
            />{" "}
            {own ? deploy.ownChoice : deploy.cheapestBid}
          </label>
        ))}
      </fieldset>
      <button type="submit" disabled={!isDeposit || !isSettled || isBegun.value}>
        {deploy.begin}
      </button>
      <small>{deploy.signatures}</small>
      {error.value !== undefined && <Fault error={error.value} />}
      <Command
        program="svc deploy"
        words={[
          settled.value.name,
          ...(isChosen.value ? [] : ["--bid", "cheapest"]),
          ...(deposit === undefined ? [] : ["--deposit", formatCoin(deposit)]),
          ...["--from", address],
        ]}
      />
    </form>
  );
}

type Wish = Pick<RunRecord, "owner" | "deposit" | "isChosen">;

function isSameWish(a: Wish, b: Wish): boolean {
  return a.isChosen === b.isChosen && a.deposit?.denom === b.deposit?.denom && a.deposit?.amount === b.deposit?.amount;
}

/** Keeps the file with its choices; an unfinished run of the same file by the same account is taken up instead. */
async function begin(wish: Wish): Promise<string> {
  const chain = chainId.peek();
  if (chain === undefined) throw new Error(t.fault.noAnswer);
  const { name, text } = settled.peek();
  // Elsewhere the browser makes no keys for sessions.
  if (!isSecureContext) throw jwtErrors.insecurePage();
  // Two tabs that begin at once begin the same run.
  return navigator.locks.request("svc deploy", async () => {
    const begun = await unfinished();
    const ours = begun.filter((run) => run.owner === wish.owner && run.chainId === chain && run.text === text);
    const same = ours.find((run) => run.progress !== undefined || isSameWish(run, wish));
    if (same !== undefined) return same.id;
    const id = crypto.randomUUID();
    await keepRun({ ...wish, id, chainId: chain, name, text, begun: Date.now(), addresses: [] });
    return id;
  });
}

async function unfinished(): Promise<readonly RunRecord[]> {
  return (await keptRuns()).filter(({ progress }) => progress?.step !== "done");
}

/** Deployments that were begun in this browser and have not come to their end. */
export function Unfinished() {
  const answer = useAsk(unfinished, { key: "unfinished" });
  return (
    <Known answer={answer}>
      {(runs) =>
        runs.length > 0 && (
          <Section title={deploy.unfinished}>
            <ul class="remarks">
              {runs.slice(0, MAX_LISTED).map(({ id, name, begun }) => (
                <li key={id}>
                  <a href={link("deploying", id)}>{deploy.goOn}</a> <Strange text={name} isName max={120} />{" "}
                  <small>
                    <Time time={new Date(begun)} />
                  </small>
                </li>
              ))}
            </ul>
          </Section>
        )
      }
    </Known>
  );
}

const MAX_LISTED = 10;
