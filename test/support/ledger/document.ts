/** The app's message about a document that it does not show: texts and order of its own checks. */
export function documentFault(document: Uint8Array): string | undefined {
  const text = Buffer.from(document).toString("utf8");
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return "JSON string is not complete";
  }
  if (/\s/.test(text.replaceAll(/"(?:[^"\\]|\\.)*"/g, ""))) return "JSON Contains whitespace in the corpus";
  if (!isSorted(parsed)) return "JSON Dictionaries are not sorted";
  const keys = typeof parsed === "object" && parsed !== null ? Object.keys(parsed) : [];
  const missing = REQUIRED.find((key) => !keys.includes(key));
  return missing === undefined ? undefined : `JSON Missing ${missing.replace("account_number", "account number")}`;
}

const REQUIRED = ["chain_id", "sequence", "fee", "msgs", "account_number", "memo"];

function isSorted(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  const keys = Array.isArray(value) ? [] : Object.keys(value);
  const inOrder = keys.every((key, i) => i === 0 || (keys[i - 1] ?? "") < key);
  return inOrder && Object.values(value).every(isSorted);
}
