import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { errorText } from "../../../util/index.ts";
import { clusterErrors } from "../contract/index.ts";
import { EngineApi } from "./api/api.ts";
import { ensureImage } from "./images/made.ts";

export const SAMPLE_IMAGE = "localhost/svc-sample:latest";

const BUSYBOX = ["/bin/busybox", "/usr/bin/busybox"];
const CALL_TIMEOUT_MS = 60_000;

/** Commands of the sample image; enough to serve a page, look around in a shell and try the network. */
const APPLETS = [
  "sh ash httpd nc wget nslookup ping ls cat echo printf env sleep date id ps kill top df du free head tail wc grep sed awk",
  "sort uniq tr cut tee find xargs touch mkdir rm rmdir mv cp ln chmod chown stat dd vi test true false seq uname hostname",
  "su ip ifconfig netstat timeout md5sum sha256sum tar gzip gunzip stty tty yes",
]
  .join(" ")
  .split(" ");

const PAGE = `<!doctype html>
<html lang="en">
<title>It runs</title>
<h1>Hello from a container</h1>
<p>This page is served by a lease on the marketplace.</p>
</html>
`;

/**
 * Makes the sample image on the engine unless it exists: a static BusyBox serving one page on port 80. Needs no
 * registry. Returns the image's name.
 */
export async function ensureSampleImage(socket: string): Promise<string> {
  const api = await EngineApi.open(socket, { call: CALL_TIMEOUT_MS, work: CALL_TIMEOUT_MS });
  const config = {
    Cmd: ["httpd", "-f", "-p", "80", "-h", "/www"],
    Env: ["PATH=/bin"],
    ExposedPorts: { "80/tcp": {} },
  };
  await ensureImage(api, { tag: SAMPLE_IMAGE, config, tree: rootTree }).catch((error) => {
    throw clusterErrors.refused(`the sample image could not be loaded: ${errorText(error)}`);
  });
  return SAMPLE_IMAGE;
}
/** The files of the image, as a tar archive. */
async function rootTree(): Promise<Buffer> {
  const { pack } = await import("tar-stream");
  const busybox = await readBusybox();
  const tar = pack();
  for (const name of ["bin", "etc", "proc", "root", "sys", "var", "www"])
    tar.entry({ name, type: "directory", mode: 0o755 });
  tar.entry({ name: "tmp", type: "directory", mode: 0o1777 });
  tar.entry({ name: "bin/busybox", mode: 0o755 }, busybox);
  for (const applet of APPLETS) tar.entry({ name: `bin/${applet}`, type: "symlink", linkname: "busybox" });
  tar.entry({ name: "etc/passwd", mode: 0o644 }, "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/tmp:/bin/sh\n");
  tar.entry({ name: "etc/group", mode: 0o644 }, "root:x:0:\nuser:x:1000:\n");
  tar.entry({ name: "www/index.html", mode: 0o644 }, PAGE);
  tar.finalize();
  return buffer(tar);
}

async function readBusybox(): Promise<Buffer> {
  for (const path of BUSYBOX) {
    const bytes = await readFile(path).catch(() => undefined);
    if (bytes !== undefined) return bytes;
  }
  throw clusterErrors.unsupported(`the sample image is made from a static BusyBox, and ${BUSYBOX[0]} is not there`, {
    hint: "on Debian or Ubuntu: apt-get install busybox-static",
  });
}
