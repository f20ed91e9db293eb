// Asks for a page again and again until its input ends, in a process of its own: what others do in theirs does not make it
// late. Takes the address and the least number of answers, and writes `{"times":[milliseconds],"wrong":[text]}`.
import { request } from "node:http";
import { isIP } from "node:net";

const PAUSE_MS = 20;
const ANSWER_MS = 30_000;

const [url, least] = process.argv.slice(2);
const { hostname, host, port } = new URL(url);
const times = [];
const wrong = [];
let going = true;
process.stdin.resume().on("end", () => {
  going = false;
});

while (going || times.length + wrong.length < Number(least)) {
  const began = performance.now();
  const answer = await ask();
  if (answer === "200") times.push(performance.now() - began);
  else wrong.push(answer);
  // The first answer tells that it has begun.
  if (times.length + wrong.length === 1) process.stderr.write("asked\n");
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
process.stdout.write(JSON.stringify({ times, wrong }));

/** At its address, or on this machine under its host name; the connection is a new one each time. */
function ask() {
  return new Promise((resolve) => {
    const options = {
      host: isIP(hostname) ? hostname : "127.0.0.1",
      port,
      headers: { host },
      agent: false,
      timeout: ANSWER_MS,
    };
    const asked = request(options, (response) => {
      response.resume().on("end", () => resolve(String(response.statusCode)));
    });
    asked.on("timeout", () => asked.destroy(new Error(`${hostname} did not answer`)));
    asked.on("error", (error) => resolve(error.message)).end();
  });
}
