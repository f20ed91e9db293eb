import type { ChainEvent } from "../../client/index.ts";
import { t } from "../text/index.ts";
import { MAX_ITEMS } from "./safe.ts";
import { Address, Strange } from "./text.tsx";

/** The first attributes in one line. */
function preview({ attributes }: ChainEvent): string {
  const first = attributes.slice(0, 3).map(({ key, value }) => `${key}=${value.slice(0, 60)}`);
  return first.join(" ");
}

/** Events with their attributes, closed at first: there are many. */
export function Events({ events }: { events: readonly ChainEvent[] }) {
  if (events.length === 0) return <p class="none">{t.state.none}</p>;
  return (
    <div class="events">
      {events.slice(0, MAX_ITEMS).map((event, i) => (
        <details key={i}>
          <summary>
            <Strange text={event.type} isName max={200} />{" "}
            <small>
              <Strange text={preview(event)} isName max={120} />
            </small>
          </summary>
          <dl class="json">
            {event.attributes.slice(0, MAX_ITEMS).map(({ key, value }, j) => (
              <div key={j}>
                <dt>
                  <Strange text={key} isName max={200} />
                </dt>
                <dd>
                  {value.includes("1") && value.length < 120 ? <Address text={value} /> : <Strange text={value} />}
                </dd>
              </div>
            ))}
          </dl>
        </details>
      ))}
      {events.length > MAX_ITEMS && <p class="cut">{t.value.items(events.length - MAX_ITEMS)}</p>}
    </div>
  );
}
