/** Trusted Types, where the browser has them: the policy of the pages lets no text name a script. */
interface ScriptPolicies {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): ScriptPolicy;
}

interface ScriptPolicy {
  createScriptURL(url: string): string;
}

let policy: ScriptPolicy | undefined;

/** Starts the script of a worker, by the name that the build has made for it. */
export function startWorker(path: string): Worker {
  const policies: unknown = Reflect.get(globalThis, "trustedTypes");
  const same: ScriptPolicy = { createScriptURL: (url) => url };
  policy ??= isScriptPolicies(policies) ? policies.createPolicy("svc-worker", same) : same;
  return new Worker(policy.createScriptURL(new URL(path, import.meta.url).href), { type: "module" });
}

function isScriptPolicies(value: unknown): value is ScriptPolicies {
  return typeof value === "object" && value !== null && "createPolicy" in value;
}
