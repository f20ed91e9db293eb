import type { Readable } from "node:stream";
import type Docker from "dockerode";

export type Dial = Docker["modem"]["dial"];

/**
 * A client of the engine at that address; with `timeout` a call fails after so many milliseconds of silence. The library waits
 * forever for the rest of an answer that breaks off, as answers do when the engine is killed: all are read as streams here,
 * whose end is seen whatever it is.
 */
export async function openClient(address: Docker.DockerOptions, timeout?: number): Promise<Docker> {
  const { default: Client } = await import("dockerode");
  const client = new Client(timeout === undefined ? address : { ...address, timeout });
  const { modem } = client;
  const dial = modem.dial.bind(modem);
  const dialWhole: Dial = (request, done = () => {}) => {
    if (request.isStream === true) return dial(request, done);
    dial({ ...request, isStream: true }, (error, stream) => {
      if (error) return done(error, null);
      readWhole(stream as Readable).then(
        (answer) => done(null, answer),
        (broken) => done(broken, null),
      );
    });
  };
  modem.dial = dialWhole;
  return client;
}

/** A value where the answer is JSON, its bytes otherwise. */
async function readWhole(stream: Readable): Promise<object> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return bytes;
  }
}
