import { request } from "node:http";

/** The body that an address answers with; names below `localhost` are this machine (RFC 6761), whatever the resolver says. */
export function fetchPage(url: string, timeout = 30_000): Promise<string> {
  const { hostname, port, pathname, host } = new URL(url);
  const target = hostname.endsWith(".localhost") ? "127.0.0.1" : hostname;
  return new Promise((resolve, reject) => {
    const settings = { host: target, port, path: pathname, headers: { host }, agent: false, timeout };
    const sent = request(settings, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      response.once("end", () => resolve(`${response.statusCode} ${body}`));
      response.once("error", reject);
    });
    sent.once("timeout", () => sent.destroy(new Error(`${url} does not answer`)));
    sent.once("error", reject);
    sent.end();
  });
}
