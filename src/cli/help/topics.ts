/** A guide, or one section of it by its heading. */
export interface TopicPart {
  /** File name below `docs/guides/`. */
  readonly guide: string;
  readonly section?: string;
}

export interface Topic {
  /** Its word on the command line; no command has the same name, whose help it would hide. */
  readonly name: string;
  readonly summary: string;
  readonly parts: readonly TopicPart[];
}

function whole(name: string, guide: string, summary: string): Topic {
  return { name, summary, parts: [{ guide }] };
}

export const TOPICS: readonly Topic[] = [
  whole("install", "install.md", "install, update and remove the command"),
  whole("deploying", "deploy.md", "rent capacity with one command, and use it in scripts"),
  whole("tenants", "tenant.md", "all that a tenant of a deployment needs to know"),
  {
    name: "deployment-files",
    summary: "the fields of a deployment file, and errors about it",
    parts: [
      { guide: "tenant.md", section: "The deployment file" },
      { guide: "troubleshooting.md", section: "Deployment files" },
    ],
  },
  {
    name: "money",
    summary: "deposits, prices and fees; the end of a deployment's funds; a provider's prices",
    parts: [
      { guide: "tenant.md", section: "Money" },
      { guide: "provider.md", section: "Prices" },
    ],
  },
  {
    name: "certificates",
    summary: "certificates of accounts, of providers, and of host names",
    parts: [
      { guide: "tenant.md", section: "Certificates" },
      { guide: "provider.md", section: "6. Certificate" },
      { guide: "provider.md", section: "TLS for host names" },
    ],
  },
  whole("holders", "holder.md", "keys, payments, stake and votes"),
  whole("browser", "console.md", "the console in a browser"),
  whole("providers", "provider.md", "offer the capacity of a machine"),
  whole("kubernetes", "kubernetes.md", "offer the capacity of a Kubernetes cluster"),
  whole("nodes", "node.md", "run a node, alone or with others"),
  whole("developers", "developer.md", "interfaces of nodes and gateways for programs"),
  whole("library", "library.md", "the library for Node.js and browsers"),
  whole("troubleshooting", "troubleshooting.md", "errors and their remedies"),
];

/** The word that lists the topics. */
export const LIST = "topics";

/** Whether `svc help WORD` shows a guide; other words name commands. */
export function isTopic(word: string | undefined): boolean {
  return word === LIST || TOPICS.some(({ name }) => name === word);
}
