import { asList } from "../util/index.ts";

/** As browsers write them (RFC 6454): in lower case, without path, and without the port that the scheme has anyway. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/(?:\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::\d{1,5})?$/;
const USUAL_PORT = /^(?:https:.*:443|http:.*:80)$/;
/** Texts that one `*` of a pattern may match; if a pattern is no origin with any of these, it matches nothing. */
const ANY = ["", "a", "a.", ".a", "1", "https", "https://", "https://a", "https://a.", "a:1"];

/** Origins of web pages, with commas between; one `*` in each matches any text. */
export const parseOrigins = asList("origins such as https://app.example.com or http://localhost:*", (word) =>
  word === "null" || mayBeOrigin(word) ? word : undefined,
);

function mayBeOrigin(pattern: string): boolean {
  const [start = "", end, ...more] = pattern.split("*");
  if (end === undefined) return isOrigin(pattern);
  return more.length === 0 && ANY.some((text) => isOrigin(`${start}${text}${end}`));
}

function isOrigin(text: string): boolean {
  return ORIGIN.test(text) && !USUAL_PORT.test(text);
}

const HOST_NAME = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/;
const MAX_HOST_NAME = 253;

/** Host names without ports, with commas between; in lower case. */
export const parseHostNames = asList("host names such as node.example.com", (word) => {
  const name = word.toLowerCase();
  return name.length <= MAX_HOST_NAME && HOST_NAME.test(name) ? name : undefined;
});

/** `parseNetworks` reads the numbers when the servers start: it needs the network library, which short commands do not load. */
const NETWORK = /^[0-9a-f:.]+(?:\/\d{1,3})?$/i;

/** Addresses and networks of proxies, with commas between. */
export const parseProxies = asList("addresses or networks such as 10.0.0.7 or 10.0.0.0/8", (word) =>
  NETWORK.test(word) ? word : undefined,
);
