import { expect, test } from "vitest";
import { listenError } from "./listen.ts";

const place = { host: "127.0.0.1", port: 80, option: "--laddr" };

test.each([
  [
    "EADDRINUSE",
    "cannot listen on 127.0.0.1:80: another program uses the port",
    "stop it, or choose another port with --laddr",
  ],
  ["EACCES", "cannot listen on 127.0.0.1:80: ports below 1024 are the administrator's", "choose another with --laddr"],
  ["EODD", "cannot listen on 127.0.0.1:80: something odd", "choose another with --laddr"],
])("%s is told with the remedy", (code, message, hint) => {
  const error = Object.assign(new Error("something odd"), { code });
  expect(listenError(error, place)).toMatchObject({ message, hint });
});
