const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]/g;

/**
 * Whether any object of a JSON text names a key twice. `JSON.parse` silently keeps the last one, so two readers of the
 * same signed text could see different claims. The text must be valid JSON.
 */
export function hasDuplicateKeys(json: string): boolean {
  const open: Set<string>[] = [];
  let last = "";
  for (const [token] of json.matchAll(TOKEN)) {
    if (token === "{" || token === "[") open.push(new Set());
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":") {
      const keys = open.at(-1);
      const key = String(JSON.parse(last));
      if (keys?.has(key)) return true;
      keys?.add(key);
    }
    last = token;
  }
  return false;
}
