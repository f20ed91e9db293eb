import * as v from "valibot";
import { clusterErrors } from "../../contract/index.ts";
import { MAX_CONFIG, MAX_LAYERS, MAX_MANIFEST, MAX_PLATFORMS, MAX_VOLUMES } from "./limits.ts";
import { parseJson, type Repository } from "./registry.ts";

/** A layer as its manifest has it. */
export interface LayerEntry {
  readonly digest: string;
  /** Compressed size in bytes. */
  readonly size: number;
}

/** An image before its layers are here. */
export interface ImagePlan {
  /** Digest of the manifest for this machine. */
  readonly manifest: string;
  readonly config: { readonly digest: string; readonly bytes: Uint8Array };
  readonly layers: readonly LayerEntry[];
  /** Digests of the layers unpacked, in the same order. */
  readonly diffIds: readonly string[];
}

const MANIFESTS = [
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
];
const INDEXES = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
];
const ACCEPT = [...INDEXES, ...MANIFESTS].join(", ");
const CONFIGS: readonly string[] = [
  "application/vnd.oci.image.config.v1+json",
  "application/vnd.docker.container.image.v1+json",
];
/** Layers kept elsewhere ("foreign") are left out: the tenant could choose any address for them. */
const LAYERS =
  /^application\/vnd\.(?:oci\.image\.layer\.v1\.tar(?:\+gzip|\+zstd)?|docker\.image\.rootfs\.diff\.tar(?:\.gzip|\.zstd)?)$/;

const Digest = v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/));
const Size = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const Entry = v.object({ mediaType: v.string(), digest: Digest, size: Size });
const Manifest = v.object({ schemaVersion: v.literal(2), config: Entry, layers: v.array(Entry) });
const Platform = v.object({ os: v.string(), architecture: v.string(), variant: v.optional(v.string()) });
const Index = v.object({
  schemaVersion: v.literal(2),
  manifests: v.array(v.object({ mediaType: v.optional(v.string()), digest: Digest, platform: v.optional(Platform) })),
});
const Config = v.object({
  os: v.optional(v.string()),
  rootfs: v.object({ type: v.literal("layers"), diff_ids: v.array(Digest) }),
  config: v.nullish(v.object({ Volumes: v.nullish(v.record(v.string(), v.unknown())) })),
});

/** Layers and configuration of `image` on machines of the architecture (`amd64`). */
export async function planImage(repository: Repository, image: string, architecture: string): Promise<ImagePlan> {
  const first = await repository.manifest(repository.version, ACCEPT, MAX_MANIFEST);
  const index = v.safeParse(Index, parseJson(first.bytes));
  const chosen = index.success
    ? await repository.manifest(choose(index.output, image, architecture), MANIFESTS.join(", "), MAX_MANIFEST)
    : first;
  const manifest = v.safeParse(Manifest, parseJson(chosen.bytes));
  if (!manifest.success) throw invalid(image, "its manifest is not that of a current image");
  const { config: entry, layers } = manifest.output;
  if (layers.length > MAX_LAYERS) {
    throw clusterErrors.imageTooLarge(`image ${image} has ${layers.length} layers, ${MAX_LAYERS} are possible`);
  }
  const strange = layers.find(({ mediaType }) => !LAYERS.test(mediaType));
  if (strange !== undefined) throw invalid(image, `a layer has the type ${strange.mediaType.slice(0, 100)}`);
  if (!CONFIGS.includes(entry.mediaType)) throw invalid(image, "it is an artifact, not an image that runs");
  const bytes = await repository.small(entry.digest, MAX_CONFIG);
  const config = v.safeParse(Config, parseJson(bytes));
  if (!config.success) throw invalid(image, "its configuration is not that of an image");
  checkConfig(config.output, layers.length, image);
  return {
    manifest: chosen.digest,
    config: { digest: entry.digest, bytes },
    layers,
    diffIds: config.output.rootfs.diff_ids,
  };
}

function checkConfig({ os, rootfs, config }: v.InferOutput<typeof Config>, layers: number, image: string): void {
  if (os !== undefined && os !== "linux")
    throw invalid(image, `it is for ${os.slice(0, 40)}, this provider runs linux`);
  if (rootfs.diff_ids.length !== layers) throw invalid(image, "its configuration names other layers than its manifest");
  const volumes = Object.keys(config?.Volumes ?? {}).length;
  if (volumes > MAX_VOLUMES) throw invalid(image, `it declares ${volumes} volumes, ${MAX_VOLUMES} are possible`);
}

/** The variant that every machine of the architecture runs comes before others. */
function choose({ manifests }: v.InferOutput<typeof Index>, image: string, architecture: string): string {
  const mine = manifests.slice(0, MAX_PLATFORMS).filter(({ platform, mediaType }) => {
    if (mediaType !== undefined && !MANIFESTS.includes(mediaType)) return false;
    return platform?.os === "linux" && platform.architecture === architecture;
  });
  const rank = (variant: string | undefined) =>
    variant === undefined || variant === "" ? 0 : COMMON.indexOf(variant) + 1;
  const usable = mine.filter(({ platform }) => rank(platform?.variant) > 0 || !platform?.variant);
  const [best] = usable.toSorted((a, b) => rank(a.platform?.variant) - rank(b.platform?.variant));
  if (best === undefined) throw invalid(image, `it is not made for linux/${architecture}, which this provider runs`);
  return best.digest;
}

/** Variants that today's machines have, the better ones first. */
const COMMON: readonly string[] = ["v8", "v7", "v6", "v1"];

function invalid(image: string, why: string): Error {
  return clusterErrors.imageInvalid(`image ${image}: ${why}`);
}
