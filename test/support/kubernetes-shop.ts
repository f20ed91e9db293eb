import type { ManifestService } from "../../src/sdl/index.ts";
import { sampleExpose, sampleService } from "./conformance/index.ts";

/** Ports of a shop: pages, a websocket, and one that takes everything in and says nothing. */
export const SHOP_PORT = { pages: 80, socket: 81, stuck: 82 } as const;

const COUNT = "echo x >> /tmp/calls";
const PLAIN = "printf 'Content-Type: text/plain\\r\\n\\r\\n'";
const FAIL = "printf 'Status: 503 Busy\\r\\n'";

/** Below `/cgi-bin/`: `calls` returns the number of calls of the failing programs since the last time. */
const PROGRAMS: Readonly<Record<string, string>> = {
  size: `${PLAIN}; wc -c`,
  slow: `sleep 4; ${PLAIN}; echo late`,
  calls: `${PLAIN}; touch /tmp/calls; wc -l < /tmp/calls; rm /tmp/calls`,
  fails: `${COUNT}; ${FAIL}; ${PLAIN}; echo busy`,
  tardy: `${COUNT}; sleep 0.5; ${FAIL}; ${PLAIN}; echo busy`,
};

/** Says hello over a websocket, and again after every message. */
const SOCKET = `
while read -r line; do
  line=\${line%?}
  [ -z "$line" ] && break
  case "$line" in [Ss]ec-[Ww]eb[Ss]ocket-[Kk]ey:*) key=\${line#*: };; esac
done
accept=$(printf %s "\${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11" | sha1sum | cut -c1-40 | xxd -r -p | base64)
printf 'HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n'
printf 'Sec-WebSocket-Accept: %s\\r\\n\\r\\n' "$accept"
printf '\\201\\005hello'
head -c 7 > /dev/null
printf '\\201\\005again'
sleep 5`;

/** A service of an image of BusyBox that shows a page, and ends at once when it is asked to. */
export function shopService(image: string, page: string): ManifestService {
  const programs = Object.entries(PROGRAMS).map(([name, text]) =>
    file(`/tmp/www/cgi-bin/${name}`, `#!/bin/sh\n${text}`),
  );
  const script = [
    "mkdir -p /tmp/www/cgi-bin",
    ...programs,
    "chmod +x /tmp/www/cgi-bin/*",
    file("/tmp/socket", SOCKET),
    `echo ${page} > /tmp/www/index.html`,
    `nc -ll -p ${SHOP_PORT.socket} -e sh /tmp/socket &`,
    `nc -ll -p ${SHOP_PORT.stuck} -e sleep 30 &`,
    `httpd -p ${SHOP_PORT.pages} -h /tmp/www`,
    "trap exit TERM",
    "while :; do sleep 1 & wait $!; done",
  ].join("\n");
  const expose = Object.values(SHOP_PORT).map((port) =>
    sampleExpose({ port, externalPort: port, global: port === SHOP_PORT.pages }),
  );
  return sampleService(image, { command: ["sh", "-c"], args: [script], expose });
}

function file(path: string, text: string): string {
  return `cat > ${path} << 'END'\n${text}\nEND`;
}
