export { endPlane, hasPlane } from "./connection.ts";
export { PlaneLink, type PlaneLinkOptions } from "./link.ts";
export { PLANE_WORD, type PlaneProgram, type PlaneSettings } from "./protocol.ts";
