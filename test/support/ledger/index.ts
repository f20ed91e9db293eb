/** A hardware device for tests: an emulation of the Cosmos app from its public protocol, over USB packets, TCP and HTTP. */
export { type Command, DEVICE_PHRASE, type DeviceSettings, EmulatedDevice, OTHER_PHRASE, Unplugged } from "./device.ts";
export { type DeviceServer, serveHttp, serveTcp } from "./servers.ts";
export { APP_INTERFACE, usbWith } from "./usb.ts";
export { installHid, WebHidDouble } from "./web-hid.ts";
