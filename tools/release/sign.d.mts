import type { KeyObject } from "node:crypto";

export interface ReleaseKey {
  readonly privateKey: KeyObject;
  /** Whether it was made for one run. */
  readonly isTest: boolean;
}

/** SubjectPublicKeyInfo, PEM. */
export function publicText(key: ReleaseKey): string;
export function signList(folder: string, text: string, key: ReleaseKey): void;
export function signFolder(folder: string, key: ReleaseKey): string;
/** The installer with the public key of a release in it. */
export function installer(template: string, key: ReleaseKey): string;
