import type { AllowedRegistry } from "../contract/index.ts";

const FORM = /^(https?:\/\/)?((?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?)$/i;

/** Reads `registry.internal:5000`, or `http://registry.internal:5000` for one without TLS. Undefined where it is neither. */
export function parseAllowedRegistry(text: string): AllowedRegistry | undefined {
  const [, scheme = "https://", host] = FORM.exec(text) ?? [];
  const plain = scheme.toLowerCase() === "http://";
  if (host === undefined || !URL.canParse(`${scheme}${host}`)) return undefined;
  return { host: new URL(`${scheme}${host}`).host, plain };
}
