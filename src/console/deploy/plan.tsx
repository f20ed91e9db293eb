import { formatBytes, type LoadedSdl, type ManifestService } from "../../sdl/index.ts";
import { tryParseInt } from "../../util/index.ts";
import { Section, Table } from "../parts/blocks.tsx";
import { decimal, None, Strange } from "../parts/text.tsx";
import { deploy } from "../text/deploy.ts";

/** Services of the file, with the resources of one replica. */
export function Plan({ sdl }: { sdl: LoadedSdl }) {
  const rows = sdl.manifest.flatMap((group) => group.services.map((service) => ({ group: group.name, service })));
  return (
    <Section title={deploy.resources}>
      <Table
        name={deploy.resources}
        columns={[
          deploy.group,
          deploy.service,
          deploy.image,
          { head: deploy.replicas, isNumber: true },
          { head: deploy.cpu, isNumber: true },
          { head: deploy.memory, isNumber: true },
          { head: deploy.storage, isNumber: true },
          { head: deploy.gpu, isNumber: true },
          deploy.ports,
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
