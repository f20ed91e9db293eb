import { formatBytes, type LoadedSdl, type ManifestService } from "../../sdl/index.ts";
import { tryParseInt } from "../../util/index.ts";
import { Section, Table } from "../parts/blocks.tsx";
import { decimal, None, Strange } from "../parts/text.tsx";
import { t } from "../text/index.ts";

/** Services of the file, with the resources of one replica. */
export function Plan({ sdl }: { sdl: LoadedSdl }) {
  const rows = sdl.manifest.flatMap((group) => group.services.map((service) => ({ group: group.name, service })));
  return (
    <Section title={t.deploy.resources}>
      <Table
        name={t.deploy.resources}
        columns={[
          t.deploy.group,
          t.deploy.service,
          t.deploy.image,
          { head: t.deploy.replicas, isNumber: true },
          { head: t.deploy.cpu, isNumber: true },
          { head: t.deploy.memory, isNumber: true },
          { head: t.deploy.storage, isNumber: true },
          { head: t.deploy.gpu, isNumber: true },
          t.deploy.ports,
        ]}
        rows={rows}
        keyOf={({ group, service }) => `${group}/${service.name}`}
        cells={({ group, service }) => [
          <Strange key="group" text={group} isName max={120} />,
          <Strange key="service" text={service.name} isName max={120} />,
          <Strange key="image" text={service.image} isName max={300} />,
          String(service.count),
          ...resourcesOf(service),
          <Strange key="ports" text={portsOf(service)} isName max={200} />,
        ]}
      />
    </Section>
  );
}

function resourcesOf({ resources: { cpu, memory, storage, gpu } }: ManifestService) {
  const count = quantity(gpu.units);
  return [
    decimal(quantity(cpu.units), 3),
    formatBytes(quantity(memory.size)),
    <span key="storage" class="stack">
      {storage.map(({ name, size }) => (
        <span key={name}>{formatBytes(quantity(size))}</span>
      ))}
    </span>,
    count === 0n ? <None key="gpu" /> : String(count),
  ];
}

function quantity({ val }: { readonly val: string }): bigint {
  return tryParseInt(val) ?? 0n;
}

/** `80, 5432/tcp`: ports that everybody reaches. */
function portsOf({ expose }: ManifestService): string {
  const open = expose.filter((each) => each.global);
  return open.map(({ port, externalPort, proto }) => `${externalPort || port}/${proto.toLowerCase()}`).join(", ");
}
