import { type Signal, useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { useAsk } from "../live/ask.ts";
import type { MessageForm } from "../live/messages.ts";
import { Act } from "../parts/act.tsx";
import { Known, Section, Table } from "../parts/blocks.tsx";
import { Fault } from "../parts/fault.tsx";
import { Json } from "../parts/json.tsx";
import { Code } from "../parts/text.tsx";
import { views } from "../text/account.ts";

const WORDS = views;

type Messages = typeof import("../live/messages.ts");
type Typed = ReturnType<Messages["typedMessage"]>;

/** Any message of the chain, written in JSON and shown as it will be signed before it is. */
export function AnyMessage({ address }: { address: string }) {
  const answer = useAsk(() => import("../live/messages.ts"), { key: "messages" });
  return <Known answer={answer}>{(messages) => <Choice messages={messages} address={address} />}</Known>;
}

function Choice({ messages, address }: { messages: Messages; address: string }) {
  const chosen = useSignal("");
  const id = useId();
  const form = messages.messageForm(chosen.value, address);
  return (
    <>
      <p class="field">
        <label htmlFor={id}>{WORDS.choose}</label>
        <select
          id={id}
          value={chosen}
          onChange={(event) => {
            chosen.value = event.currentTarget.value;
          }}
        >
          <option value="">–</option>
          {messages.messageTypes().map((type) => (
            <option key={type} value={type}>
              {type}
            </option>
          ))}
        </select>
      </p>
      {form !== undefined && <Content key={chosen.value} messages={messages} form={form} />}
    </>
  );
}

function Content({ messages, form }: { messages: Messages; form: MessageForm }) {
  const text = useSignal(form.template);
  const typed = useSignal<Typed | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const id = useId();
  const check = (): void => {
    typed.value = undefined;
    error.value = undefined;
    try {
      typed.value = messages.typedMessage(form.typeUrl, text.peek());
    } catch (reason) {
      error.value = reason;
    }
  };
  return (
    <>
      <p class="field">
        <label htmlFor={id}>{WORDS.json}</label>
        <textarea
          id={id}
          class="code"
          value={text}
          rows={14}
          spellcheck={false}
          autocomplete="off"
          wrap="off"
          onInput={(event) => {
            text.value = event.currentTarget.value;
            typed.value = undefined;
          }}
        />
      </p>
      <p class="none">{WORDS.ownCommands}</p>
      <button type="button" onClick={check}>
        {WORDS.check}
      </button>
      <div aria-live="polite">
        {error.value !== undefined && <Fault error={error.value} />}
        {typed.value !== undefined && <Checked typed={typed} />}
      </div>
      <Section title={WORDS.fields}>
        <Table
          name={WORDS.fields}
          columns={[WORDS.path, WORDS.type]}
          rows={form.fields}
          keyOf={({ path }) => path}
          cells={({ path, type }) => [<Code key="path" text={path} />, <Code key="type" text={type} />]}
        />
      </Section>
    </>
  );
}

/** The message as the chain will read it; what is signed are these bytes. */
function Checked({ typed }: { typed: Signal<Typed | undefined> }) {
  return (
    <Section title={WORDS.checked}>
      {typed.value !== undefined && <Json value={typed.value.content} />}
      <Act
        label={WORDS.sign}
        command={() => []}
        messages={() => {
          if (typed.value === undefined) throw new Error(WORDS.unchecked);
          return [typed.value.any];
        }}
      />
    </Section>
  );
}
