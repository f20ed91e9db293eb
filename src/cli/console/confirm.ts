import { createHash, randomInt, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { answerMalformed, closeServer, listenAt } from "../../util/servers/index.ts";
import { Door } from "./door.ts";
import {
  CODE_LENGTH,
  HEADERS_TIMEOUT_MS,
  MAX_ANSWER_BODY,
  MAX_CONFIRM_CONNECTIONS,
  REQUEST_TIMEOUT_MS,
} from "./limits.ts";
import type { QuestionPlace } from "./questions.ts";
import { bodyOf } from "./relay.ts";

/** Characters of a code: none looks like another one. */
const ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz";
const STYLE = `:root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:1.5rem auto;padding:0 1rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid;border-radius:8px;padding:1rem;max-height:60vh;overflow:auto}
input,button{font:inherit;padding:.35rem .7rem}input{width:9ch;font-family:monospace}form{display:flex;flex-wrap:wrap;gap:.7rem;align-items:center}`;
/** Nothing runs on the page, so nothing can press its buttons or change its text; it is sent nowhere but back. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");
const HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Cache-Control": "no-store",
  "Content-Security-Policy": POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  // A form without a referrer would be sent without its origin as well.
  "Referrer-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};
/** Seconds after which a page without a question asks again. */
const AGAIN_S = 1;
const PAGE = "/console/";
const ANSWER = "/console/answer";

interface Question {
  /** Names it in its form. */
  readonly id: string;
  readonly text: string;
  readonly code: string;
  readonly settle: (isAgreed: boolean) => void;
}

/**
 * A page of an origin of its own on which questions are read and answered, for `--confirm page`. It is made here and has no script; the
 * terminal shows a code for each question, and the page takes no other answer: a page that was changed can neither show another question
 * here nor answer one.
 */
export class ConfirmationPage implements QuestionPlace {
  readonly isOpen = true;
  readonly #tell: (line: string) => void;
  readonly #server: Server;
  #door = new Door(0);
  #question: Question | undefined;

  constructor(tell: (line: string) => void) {
    this.#tell = tell;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
    this.#server.maxConnections = MAX_CONFIRM_CONNECTIONS;
    this.#server.headersTimeout = HEADERS_TIMEOUT_MS;
    this.#server.requestTimeout = REQUEST_TIMEOUT_MS;
    answerMalformed(this.#server);
  }

  /** Begins to listen on a free port of loopback; returns the link that opens the page once. */
  async listen(): Promise<string> {
    const { port } = await listenAt(this.#server, { host: "127.0.0.1", port: 0, option: "svc console --confirm page" });
    this.#door = new Door(port);
    return this.#door.link;
  }

  close(): Promise<void> {
    this.#question?.settle(false);
    return closeServer(this.#server);
  }

  put(text: string, signal: AbortSignal): Promise<boolean> {
    const code = Array.from({ length: CODE_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
    const [head = ""] = text.split("\n");
    this.#tell(`${head}\nread it at ${this.#door.origin}${PAGE}, and type this code there to agree: ${code}`);
    return new Promise((resolve) => {
      const withdraw = (): void => {
        this.#tell("withdrawn by the page");
        settle(false);
      };
      const settle = (isAgreed: boolean): void => {
        this.#question = undefined;
        signal.removeEventListener("abort", withdraw);
        resolve(isAgreed);
      };
      signal.addEventListener("abort", withdraw, { once: true });
      this.#question = { id: randomUUID(), text, code, settle };
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url = "/", headers } = request;
    const judged = this.#door.judge({ method, url, headers, isWebsocket: false });
    if (judged.kind === "refused") return send(response, judged.status, paragraph(judged.sentence));
    if (judged.kind === "enters") return goOn(response, { "Set-Cookie": judged.cookie });
    if (url === PAGE && (method === "GET" || method === "HEAD")) return this.#show(response);
    if (url !== ANSWER || method !== "POST") return send(response, 404, paragraph(`the page is at ${PAGE}`));
    const body = await bodyOf(request, MAX_ANSWER_BODY);
    if (body === "too large") return send(response, 413, paragraph("the answer is too long"));
    return this.#take(new URLSearchParams(body.toString("utf8")), response);
  }

  #show(response: ServerResponse): void {
    if (this.#question === undefined) response.setHeader("Refresh", String(AGAIN_S));
    const idle = paragraph("No question waits. The next one appears here by itself.");
    send(response, 200, this.#question === undefined ? idle : form(this.#question));
  }

  /** An answer to an earlier question settles nothing. Anything but the code refuses. */
  #take(answer: URLSearchParams, response: ServerResponse): void {
    const question = this.#question;
    const isCurrent = question !== undefined && answer.get("question") === question.id;
    const isTyped = answer.get("word") === "agree";
    const isAgreed = isCurrent && isTyped && (answer.get("code") ?? "").trim().toLowerCase() === question.code;
    if (isCurrent) question.settle(isAgreed);
    if (!isCurrent) send(response, 409, paragraph("This question is no longer open.") + ONWARDS);
    else if (isTyped && !isAgreed) send(response, 403, paragraph(WRONG) + ONWARDS);
    else goOn(response, {});
  }
}

const ONWARDS = `<p><a href="${PAGE}">To the next question</a></p>`;
const WRONG = "That is not the code of the question, so it was refused. Let the console ask again.";

function form(question: Question): string {
  return `<pre>${escaped(question.text)}</pre>
<form method="post" action="${ANSWER}" autocomplete="off"><input type="hidden" name="question" value="${question.id}">
<label for="code">Code that the terminal shows</label><input id="code" name="code" maxlength="${CODE_LENGTH}" autofocus>
<button name="word" value="agree">Agree</button><button name="word" value="refuse">Refuse</button></form>`;
}

function paragraph(sentence: string): string {
  return `<p>${escaped(sentence)}</p>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

function goOn(response: ServerResponse, headers: Record<string, string>): void {
  response.writeHead(303, { ...HEADERS, ...headers, Location: PAGE });
  response.end();
}

function send(response: ServerResponse, status: number, content: string): void {
  response.writeHead(status, HEADERS);
  response.end(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>svc console: questions</title><style>${STYLE}</style><main><h1>Questions of the console</h1>${content}</main></html>
`);
}
