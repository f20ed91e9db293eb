import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { waitFor } from "../../../test/support/wait.ts";
import { ConfirmationPage } from "./confirm.ts";
import { Questions } from "./questions.ts";

const forever = new AbortController().signal;
const TEXT = 'The console asks alice to sign on svc-1:\n{"memo":"<script>alert(1)</script>"}';

let told: string[] = [];
let page: ConfirmationPage;
let questions: Questions;
let origin = "";
let cookie = "";

beforeEach(async () => {
  told = [];
  page = new ConfirmationPage((line) => told.push(line));
  questions = new Questions(page);
  const link = await page.listen();
  origin = new URL(link).origin;
  const entrance = await fetch(link, { redirect: "manual" });
  cookie = entrance.headers.get("set-cookie")?.split(";")[0] ?? "";
});
afterEach(() => page.close());

function ask(path: string, init: RequestInit = {}) {
  return fetch(`${origin}${path}`, { redirect: "manual", ...init, headers: { cookie, origin, ...init.headers } });
}

const shown = async (): Promise<string> => (await ask("/console/")).text();

/** The code that the terminal shows for the question of a number. */
async function codeOf(count = 1): Promise<string> {
  await waitFor(() => told.filter((line) => line.includes("agree: ")).length >= count, "the question");
  return /agree: (\w{6})$/.exec(told.filter((line) => line.includes("agree: "))[count - 1] ?? "")?.[1] ?? "";
}

async function answer(fields: Record<string, string>, headers: Record<string, string> = {}): Promise<number> {
  const question = /name="question" value="([^"]*)"/.exec(await shown())?.[1] ?? "";
  const body = new URLSearchParams({ question, word: "agree", ...fields });
  return (await ask("/console/answer", { method: "POST", body, headers })).status;
}

describe("a question on its page", () => {
  it("is agreed to with the code that the terminal shows, and with nothing else", async () => {
    const agreed = questions.ask(TEXT, forever);
    const code = await codeOf();
    expect(told[0]).toContain("The console asks alice to sign on svc-1:\nread it at http://127.0.0.1:");
    expect(await shown()).toContain("&#60;script&#62;alert(1)");
    expect(await shown()).not.toContain(code);
    expect(await answer({ code: ` ${code.toUpperCase()} ` })).toBe(303);
    expect(await agreed).toBe("yes");
    for (const [count, fields] of [{ code }, { code: "" }, { word: "refuse" }, { word: "" }].entries()) {
      const refused = questions.ask(TEXT, forever);
      await codeOf(count + 2);
      await answer(fields);
      expect([fields, await refused]).toEqual([fields, "no"]);
    }
    expect(new Set(await Promise.all([1, 2, 3, 4, 5].map(codeOf))).size).toBe(5);
  });

  it("takes no answer to an earlier one, and none when none is open", async () => {
    const left = new AbortController();
    const withdrawn = questions.ask(TEXT, left.signal);
    await codeOf();
    const question = /name="question" value="([^"]*)"/.exec(await shown())?.[1] ?? "";
    left.abort();
    expect(await withdrawn).toBe("withdrawn");
    expect(await answer({ code: await codeOf() })).toBe(409);
    const next = questions.ask(TEXT, forever);
    const code = await codeOf(2);
    expect(await answer({ code, question })).toBe(409);
    expect(await answer({ code })).toBe(303);
    expect(await next).toBe("yes");
    expect(told).toContain("withdrawn by the page");
  });

  it("is neither shown nor answered for another origin, without the cookie, or in a frame", async () => {
    const open = questions.ask(TEXT, forever);
    const code = await codeOf();
    const foreign = ["http://127.0.0.1:1", "null", "https://evil.example"];
    for (const from of foreign) expect(await answer({ code }, { origin: from })).toBe(403);
    expect(await answer({ code }, { cookie: "" })).toBe(401);
    expect((await ask("/console/", { headers: { cookie: "" } })).status).toBe(401);
    expect((await ask("/console/", { headers: { "sec-fetch-dest": "iframe" } })).status).toBe(403);
    expect((await ask("/console/answer")).status).toBe(404);
    expect(await answer({ code: "x".repeat(2_000) })).toBe(413);
    expect(await answer({ code })).toBe(303);
    expect(await open).toBe("yes");
  });

  it("runs nothing, and has no address of another server", async () => {
    const { headers } = await ask("/console/");
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[^ ;]*'; form-action 'self'; frame-ancestors 'none'/,
    );
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(headers.get("refresh")).toBe("1");
    expect(await shown()).not.toMatch(/<script|https?:\/\//);
  });

  it("is refused when the command ends", async () => {
    const open = questions.ask(TEXT, forever);
    await codeOf();
    await page.close();
    expect(await open).toBe("no");
  });
});
