export { endPlane, hasPlane, PlaneLink, type PlaneLinkOptions } from "./link.ts";
export { PLANE_WORD, type PlaneProgram, type PlaneSettings } from "./protocol.ts";
