import { imageError } from "../lease/reasons/images.ts";
import { evictedText, placingText } from "../lease/reasons/placing.ts";
import { hindranceOf, hindranceText } from "../view/hindrances.ts";

/** Reasons of the cluster to end a pod: it also names pods of others that take its place. */
const ENDED = ["Evicted", "Preempted", "Preempting"];
/** Nodes that do not get an image tell where they looked for it. */
const NO_IMAGE = /^Failed to (?:pull|inspect) image |^Error: (?:Err)?(?:Invalid)?Image\w+/;

/** What the cluster says of a pod. */
interface Said {
  readonly reason?: string;
  readonly message?: string;
}

/** What concerns nodes and their surroundings is said as in the status. */
export function noteOf({ reason = "", message = "" }: Said): string {
  if (reason === "FailedScheduling") return placingText(message);
  if (ENDED.includes(reason)) return evictedText(message);
  if (reason === "Failed" && NO_IMAGE.test(message)) return imageError(message);
  const hindrance = hindranceOf(reason, message);
  return hindrance === undefined ? message : hindranceText(hindrance);
}
