/** Nodes' messages about registries, in the order of their priority, and their meaning for the image's tenant. */
const SENTENCES: readonly (readonly [RegExp, (image: string) => string])[] = [
  [
    /no match for platform/i,
    (image) => `${image} is not made for the provider's kind of machine: build it for that too`,
  ],
  [/InvalidImageName|couldn't parse image|invalid reference format/i, (image) => `${image} has no valid name: mend it`],
  [/no space left/i, (image) => `the node has no disk left for ${image}; ask the provider`],
  [
    /\b40[13]\b|unauthorized|forbidden|denied|authorization failed|no basic auth/i,
    (image) => `the registry does not give out ${image}: check its name, and the credentials that you name for it`,
  ],
  [/not found|manifest unknown|\b404\b/i, (image) => `${image} does not exist in its registry: check name and tag`],
  [
    /too ?many ?requests|\b429\b/i,
    (image) => `the registry has given out ${image} too often of late: name credentials, or wait`,
  ],
  [
    /no such host|refused|timeout|deadline exceeded|unreachable|no route|x509|server gave HTTP response/i,
    (image) => `the registry of ${image} does not answer over TLS: check its name`,
  ],
];

/** Why a node does not get an image, for its tenant, without unknown words of the node. */
export function imageError(message: string): string {
  const [, name] = /image "([^"]{1,500})"/.exec(message) ?? [];
  // Names of images may look like anything.
  const words = name === undefined ? message : message.replaceAll(name, "");
  const [, sentence = unknown] = SENTENCES.find(([pattern]) => pattern.test(words)) ?? [];
  return sentence(name === undefined ? "the image" : `the image ${name}`);
}

/** Nodes also say no more than that they wait before they try again. */
function unknown(image: string): string {
  return `the node does not get ${image} yet: check its name, tag and credentials, or ask the provider`;
}
