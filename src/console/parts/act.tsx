import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { DISPLAY_EXPONENT, NATIVE_DENOM } from "../../util/index.ts";
import type { Any } from "../../wire/index.ts";
import { link } from "../live/route.ts";
import { send, wallet } from "../live/wallet.ts";
import { t } from "../text/index.ts";
import type { SendStage, Sent } from "../wallet/send.ts";
import { Command } from "./blocks.tsx";
import { Fault } from "./fault.tsx";
import { Code, State, Strange } from "./text.tsx";

/** A transaction as a form of a page. */
interface ActProps {
  /** The word of the button. */
  readonly label: string;
  /** The same words in `svc tx`, without the account; none where no single command does it. */
  readonly command: (fields: FormData) => readonly string[];
  /** Rejects with a sentence where a field is wrong. */
  readonly messages: (from: string, fields: FormData) => Promise<readonly Any[]> | readonly Any[];
  /** Told once the transaction is in a block, or refused by the node. */
  readonly onSent?: (sent: Sent) => void;
  /** The fields. */
  readonly children?: ComponentChildren;
}

type Progress =
  | { readonly kind: "open"; readonly stage: SendStage }
  | { readonly kind: "sent"; readonly sent: Sent }
  | { readonly kind: "failed"; readonly error: unknown };

/** Signs by the connected account when its button is pressed, and tells what became of it. */
export function Act({ label, command, messages, onSent, children }: ActProps) {
  const progress = useSignal<Progress | undefined>(undefined);
  const fields = useSignal(new FormData());
  const account = wallet.value;
  if (account === undefined) return <Connect />;
  if (account.lacks.transaction !== undefined) return <p class="none">{t.wallet.lacks[account.lacks.transaction]}</p>;
  const run = async (form: HTMLFormElement): Promise<void> => {
    const data = new FormData(form);
    progress.value = { kind: "open", stage: "waiting" };
    try {
      const made = await messages(account.address, data);
      const memo = data.get("memo");
      const sent = await send(made, typeof memo === "string" ? memo : "", (stage) => {
        progress.value = { kind: "open", stage };
      });
      progress.value = { kind: "sent", sent };
      onSent?.(sent);
    } catch (error) {
      progress.value = { kind: "failed", error };
    }
  };
  const isOpen = progress.value?.kind === "open";
  const words = command(fields.value);
  return (
    <form
      class="act"
      onInput={(event) => {
        fields.value = new FormData(event.currentTarget);
      }}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isOpen) void run(event.currentTarget);
      }}
    >
      {children}
      <button type="submit" disabled={isOpen}>
        {label}
      </button>
      <div aria-live="polite">{progress.value !== undefined && <Told progress={progress.value} />}</div>
      {words.length > 0 && <Command program="svc tx" words={[...words, "--from", account.address]} />}
    </form>
  );
}

export function Connect() {
  return (
    <p>
      <a href={link("wallet")}>{t.wallet.connectFirst}</a>
    </p>
  );
}

function Told({ progress }: { progress: Progress }) {
  if (progress.kind === "open") return <p class="waiting">{t.wallet.stages[progress.stage]} …</p>;
  if (progress.kind === "failed") return <Fault error={progress.error} />;
  const { response, isEarlier } = progress.sent;
  return (
    <div class="told">
      {isEarlier && <p class="notice">{t.wallet.earlier}</p>}
      <p>
        {response.code === 0 ? (
          <State word={t.tx.ok} kind="good" />
        ) : (
          <State word={t.tx.failed(response.codespace, response.code)} kind="bad" />
        )}{" "}
        {response.height > 0n ? (
          <a href={link("tx", response.txhash)}>{t.wallet.show}</a>
        ) : (
          <Code text={response.txhash} />
        )}
      </p>
      {response.code !== 0 && <Strange text={response.rawLog} max={1000} />}
    </div>
  );
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly isSecret?: boolean;
  readonly isOptional?: boolean;
  /** The text at first. */
  readonly value?: string;
}

/** A field of a form with its name. */
export function Field({ name, label, isSecret = false, isOptional = false, value = "" }: FieldProps) {
  const id = useId();
  const common = { id, name, required: !isOptional, autocomplete: "off", maxLength: 4000 };
  return (
    <p class="field">
      <label htmlFor={id}>{label}</label>
      {isSecret ? <input type="password" {...common} /> : <input type="text" defaultValue={value} {...common} />}
    </p>
  );
}

export function textOf(fields: FormData, name: string): string {
  const value = fields.get(name);
  return typeof value === "string" ? value.trim() : "";
}

const AMOUNT = new RegExp(`^(\\d{1,18})(?:\\.(\\d{1,${DISPLAY_EXPONENT}}))?$`);

/** An amount of whole tokens as a coin; undefined for anything else. */
export function coinOf(fields: FormData): { readonly denom: string; readonly amount: string } | undefined {
  const [found, whole = "", rest = ""] = AMOUNT.exec(textOf(fields, "amount")) ?? [];
  if (found === undefined) return undefined;
  const amount = BigInt(`${whole}${rest.padEnd(DISPLAY_EXPONENT, "0")}`);
  return amount === 0n ? undefined : { denom: NATIVE_DENOM, amount: amount.toString() };
}

/** The same; throws a sentence for anything else. */
export function mustCoin(fields: FormData): { readonly denom: string; readonly amount: string } {
  const coin = coinOf(fields);
  if (coin === undefined) throw new Error(t.wallet.badAmount);
  return coin;
}

/** The amount as commands write it, or the word for one. */
export function amountWord(fields: FormData): string {
  const coin = coinOf(fields);
  return coin === undefined ? "AMOUNT" : `${coin.amount}${coin.denom}`;
}
