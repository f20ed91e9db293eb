import { PORTS } from "../../util/index.ts";
import { usageError } from "../errors.ts";

/** Every port of one localnet. */
export type LocalnetPorts = Readonly<Record<keyof typeof PORTS, number>> & {
  /** First port of the range for node ports of leases. */
  readonly nodePortFirst: number;
  readonly nodePortLast: number;
};

const STEP = 100;
const NODE_PORT_FIRST = 30_000;
const NODE_PORTS = 1000;
/** Above it no node ports are left. */
const MAX_OFFSET = Math.floor((65_536 - NODE_PORT_FIRST) / NODE_PORTS - 1) * STEP;

/** The default ports shifted by the offset; each localnet also has a range of node ports to itself. */
export function localnetPorts(offset: number): LocalnetPorts {
  if (offset % STEP !== 0 || offset > MAX_OFFSET) {
    throw usageError(`--port-offset takes a multiple of ${STEP} up to ${MAX_OFFSET}, not ${offset}`);
  }
  const shifted = Object.fromEntries(Object.entries(PORTS).map(([name, port]) => [name, port + offset]));
  const nodePortFirst = NODE_PORT_FIRST + (offset / STEP) * NODE_PORTS;
  return {
    ...(shifted as Record<keyof typeof PORTS, number>),
    nodePortFirst,
    nodePortLast: nodePortFirst + NODE_PORTS - 1,
  };
}
