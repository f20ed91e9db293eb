import { useEffect } from "preact/hooks";
import { isAddress } from "../../wire/index.ts";
import { link, readHeight, replaceRoute, route } from "../live/route.ts";
import { Heading, Strange } from "../parts/text.tsx";
import { t } from "../text/index.ts";

/** Leads to the page of what was searched for. */
export function Search() {
  const text = (route.value.search.get("q") ?? "").trim();
  const target = targetOf(text);
  useEffect(() => {
    if (target !== undefined) replaceRoute(target);
  }, [target]);
  return (
    <>
      <Heading title={t.search.title} />
      {target === undefined && text !== "" && (
        <p class="none">
          <Strange text={t.search.none(text)} max={500} />
        </p>
      )}
      <h2>{t.search.forms}</h2>
      <ul>
        {t.search.list.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
    </>
  );
}

/** The page of a height, hash, address, deployment, order, bid or lease; undefined for anything else. */
export function targetOf(text: string): string | undefined {
  const plain = text.replace(/[\s_,\u202f]/g, "");
  const height = readHeight(plain);
  if (height !== undefined) return link("block", height);
  if (/^(?:0x)?[0-9a-f]{64}$/i.test(plain)) return link("tx", plain.replace(/^0x/i, "").toUpperCase());
  if (isAddress(plain)) return link("account", plain);
  if (isAddress(plain, "valoper")) return link("validator", plain);
  const [owner = "", number = "", ...rest] = plain.replace(/^(?:deployment|group|order|bid|lease)\//, "").split("/");
  const dseq = readHeight(number);
  return isAddress(owner) && dseq !== undefined && rest.length <= 3 ? link("deployment", owner, dseq) : undefined;
}
