import { Certificates } from "../../../provider/index.ts";
import { CERTIFICATE_DAYS } from "./account.ts";
import { type Check, Fault } from "./finding.ts";

const DAY_MS = 86_400_000;
/** One of few days is renewed when less of its time is left. */
const LATE_SHARE = 1 / 4;

export interface HostCertificatesWish {
  /** Folders whose certificates the ingress presents. */
  readonly folders: readonly string[];
  /** Whether the provider itself gets certificates as leases come. */
  readonly isKept: boolean;
  readonly now: () => number;
}

/** Whether the certificates for host names can be used, and none ends soon. */
export function hostCertificatesCheck({ folders, isKept, now }: HostCertificatesWish): Check {
  return {
    name: "host certificates",
    fix: "fix the named file: until then the ingress does not present it",
    async look() {
      const certificates = new Certificates(folders);
      const [problem] = certificates.look().problems;
      if (problem !== undefined) throw new Error(problem);
      const [first] = certificates.presented.toSorted((one, other) => one.notAfter - other.notAfter);
      if (first === undefined) return none(folders, isKept);
      const left = first.notAfter - now();
      const least = Math.min(CERTIFICATE_DAYS * DAY_MS, (first.notAfter - first.notBefore) * LATE_SHARE);
      if (left < least) throw new Fault(`${first.files.certificate} ${ending(left)}`, renewal(isKept));
      return `names: ${certificates.names.length}; the first certificate ${ending(left)}`;
    },
  };
}

function none(folders: readonly string[], isKept: boolean): string {
  if (isKept) return "none yet: they are created when leases need them";
  const fix = "put pairs NAME.crt and NAME.key there, or see the provider guide for other ways";
  throw new Fault(`no certificate in ${folders.join(", ")}`, fix);
}

function ending(left: number): string {
  return left <= 0 ? "has ended" : `expires in ${Math.floor(left / DAY_MS)} days`;
}

function renewal(isKept: boolean): string {
  return isKept ? "see the log of the provider for why it is not renewed" : "renew it, or remove it";
}
