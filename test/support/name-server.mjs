// A name server over UDP and TCP for tests, in a process of its own: `node name-server.mjs ADDRESS FILE`. The file is JSON of
// addresses by name, and read anew for every question. It answers for the cluster's own names only.
import { createSocket } from "node:dgram";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";

const [, , address, file] = process.argv;
const PORT = 53;
const HEADER = 12;
const TYPE_A = 1;
const NO_SUCH_NAME = 3;

/** The name that is asked for, the type, and where the question ends. */
function questionOf(query) {
  const labels = [];
  let at = HEADER;
  for (let length = query[at]; length > 0; length = query[at]) {
    labels.push(query.subarray(at + 1, at + 1 + length).toString("latin1"));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** RFC 1035: the question again, and the address where there is one. */
function answerTo(query) {
  const { name, type, end } = questionOf(query);
  const known = JSON.parse(readFileSync(file, "utf8"))[name];
  const isAnswered = known !== undefined && type === TYPE_A;
  const header = Buffer.alloc(HEADER);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8580 | (known === undefined ? NO_SUCH_NAME : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(isAnswered ? 1 : 0, 6);
  const record = Buffer.from([
    0xc0,
    HEADER,
    0,
    TYPE_A,
    0,
    1,
    0,
    0,
    0,
    5,
    0,
    4,
    ...(known ?? "").split(".").map(Number),
  ]);
  return Buffer.concat([header, query.subarray(HEADER, end), ...(isAnswered ? [record] : [])]);
}

const datagrams = createSocket("udp4", (query, from) => datagrams.send(answerTo(query), from.port, from.address));
datagrams.bind(PORT, address);
createServer((socket) => {
  // Questions of tests come whole.
  socket.once("data", (bytes) => {
    const answer = answerTo(bytes.subarray(2));
    socket.end(Buffer.concat([Buffer.from([answer.length >> 8, answer.length & 255]), answer]));
  });
  socket.on("error", () => socket.destroy());
}).listen(PORT, address);
