import type { JsonValue } from "../../wire/index.ts";
import { t } from "../text/index.ts";
import { MAX_ITEMS } from "./safe.ts";
import { Address, None, Strange } from "./text.tsx";

/** Levels that are open at first; deeper ones open by a click. */
const OPEN_LEVELS = 3;
const ADDRESS = /^[a-z]{1,20}1[a-z0-9]{38,90}$/;

/** A message as JSON, field by field, with addresses as links. */
export function Json({ value, level = 0 }: { value: JsonValue; level?: number }) {
  if (value === null || value === "") return <None />;
  if (typeof value === "string") return ADDRESS.test(value) ? <Address text={value} /> : <Strange text={value} />;
  if (typeof value !== "object") return <span class="number">{String(value)}</span>;
  const entries: readonly (readonly [string, JsonValue])[] = Array.isArray(value)
    ? value.slice(0, MAX_ITEMS).map((item: JsonValue, i: number) => [String(i + 1), item])
    : Object.entries(value).slice(0, MAX_ITEMS);
  const count = Object.keys(value).length;
  if (count === 0) return <None />;
  const list = (
    <dl class={Array.isArray(value) ? "json list" : "json"}>
      {entries.map(([name, item]) => (
        <div key={name}>
          <dt>
            <Strange text={name} isName max={200} />
          </dt>
          <dd>
            <Json value={item} level={level + 1} />
          </dd>
        </div>
      ))}
      {count > MAX_ITEMS && <p class="cut">{t.value.items(count - MAX_ITEMS)}</p>}
    </dl>
  );
  if (level < OPEN_LEVELS) return list;
  return (
    <details>
      <summary>{count}</summary>
      {list}
    </details>
  );
}
