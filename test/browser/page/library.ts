// Contents of the page of `browser.test.ts`: the example of the guide, and the entry points that work in browsers.
export * as svc from "svc";
export * as crypto from "svc/crypto";
export * as gateway from "svc/gateway";
export * as light from "svc/light";
export { Query } from "svc/proto/sdk/bank/v1beta1/query";
export { MsgSendSchema } from "svc/proto/sdk/bank/v1beta1/tx";
export * as sdl from "svc/sdl";
export * as wire from "svc/wire";
export * as example from "../../../docs/examples/browser.ts";
export * as deployExample from "../../../docs/examples/deploy-page.ts";
export * as lightExample from "../../../docs/examples/light-page.ts";
