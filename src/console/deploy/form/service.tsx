import { NATIVE_DENOM, tryParseDec } from "../../../util/index.ts";
import { priceText } from "../../parts/price.tsx";
import { Strange } from "../../parts/text.tsx";
import { deploy } from "../../text/deploy.ts";
import { form as words } from "../../text/form.ts";
import { t } from "../../text/index.ts";
import { change, NEW_SERVICE } from "./change.ts";
import { addPort, remove, removeService, setGlobal, setText } from "./edit.ts";
import { Labelled, LinesInput, NameInput, TextInput } from "./inputs.tsx";
import type { PlacementForm, PortForm, ServiceForm } from "./model.ts";

interface ServiceProps {
  readonly service: ServiceForm;
  /** Names of all services of the file. */
  readonly names: readonly string[];
  /** Beginning of the identifiers of its inputs. */
  readonly id: string;
}

/** A service with all that the form knows of it. */
export function Service({ service, names, id }: ServiceProps) {
  const { name, cpu, memory, volumes, sharedWith, placements } = service;
  return (
    <fieldset class="service">
      <legend>
        {deploy.service} <Strange text={name} isName max={63} />
      </legend>
      <NameInput name={name} names={names} />
      <TextInput label={deploy.image} field={service.image} id={`${id}-image`} />
      <div class="row">
        <TextInput label={words.cores} field={cpu} isNumber />
        <TextInput label={deploy.memory} field={memory} isNumber />
        {volumes.map((volume) => (
          <TextInput key={volume.name} label={words.storage(volume.name)} field={volume.size} isNumber />
        ))}
      </div>
      <Shared names={sharedWith} />
      {placements.map((placement) => (
        <Placement key={placement.name} placement={placement} isNamed={placements.length > 1} />
      ))}
      <Ports service={service} id={id} />
      <LinesInput label={words.env} field={service.env} placeholder="NAME=value" />
      <LinesInput label={words.command} field={service.command} />
      <LinesInput label={words.args} field={service.args} />
      <button type="button" onClick={() => change(removeService(name), NEW_SERVICE)}>
        {words.removeService(name)}
      </button>
    </fieldset>
  );
}

function Shared({ names }: { names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <p>
      <small>
        {words.shared} <Strange text={names.join(", ")} isName max={300} />
      </small>
    </p>
  );
}

/** Replicas of a service at a place, and the most that one costs. */
function Placement({ placement, isNamed }: { placement: PlacementForm; isNamed: boolean }) {
  const { name, count, amount, denom } = placement;
  return (
    <>
      <div class="row">
        {isNamed && <Strange text={name} isName max={120} />}
        <TextInput label={deploy.replicas} field={count} isNumber />
        <TextInput label={words.price} field={amount} isNumber />
        <TextInput label={words.denom} field={denom} />
      </div>
      <InTokens amount={amount?.text ?? ""} denom={denom?.text ?? ""} />
    </>
  );
}

/** The price of the file, which has the unit of the chain, in the unit of all other amounts. */
function InTokens({ amount, denom }: { amount: string; denom: string }) {
  const value = denom === NATIVE_DENOM ? tryParseDec(amount) : undefined;
  if (value === undefined) return null;
  return <small>{t.value.perBlock(priceText({ denom, amount: value }))}</small>;
}

function Ports({ service: { name, ports }, id }: Omit<ServiceProps, "names">) {
  if (ports === undefined) return null;
  return (
    <>
      {ports.map((port, i) => (
        <Port key={i} port={port} id={`${id}-port-${i}`} after={`${id}-add-port`} number={i + 1} />
      ))}
      <button id={`${id}-add-port`} type="button" onClick={() => change(addPort(name), `${id}-port-${ports.length}`)}>
        {words.addPort(name)}
      </button>
    </>
  );
}

interface PortProps {
  readonly port: PortForm;
  readonly id: string;
  /** Input to go on with when the port is removed. */
  readonly after: string;
  readonly number: number;
}

const PROTOCOLS = ["tcp", "udp"];

function Port({ port: { path, port, as, proto, isGlobal, hosts }, id, after, number }: PortProps) {
  return (
    <fieldset class="port">
      <legend>{words.port(number)}</legend>
      <div class="row">
        <TextInput label={words.inside} field={port} id={id} isNumber />
        <TextInput label={words.outside} field={as} isNumber isOptional />
        {proto !== undefined && (
          <Labelled label={words.protocol} isShort>
            {(described) => (
              <select
                {...described}
                value={proto.text.toLowerCase() || "tcp"}
                onChange={(event) => change(setText(proto.path, event.currentTarget.value))}
              >
                {PROTOCOLS.map((each) => (
                  <option key={each} value={each}>
                    {each}
                  </option>
                ))}
              </select>
            )}
          </Labelled>
        )}
        {isGlobal !== undefined && (
          <label class="check">
            <input
              type="checkbox"
              checked={isGlobal}
              onChange={(event) => change(setGlobal(path, event.currentTarget.checked))}
            />{" "}
            {words.global}
          </label>
        )}
      </div>
      <LinesInput label={words.hosts} field={hosts} isInLine placeholder="shop.example.com" />
      <button type="button" onClick={() => change(remove(path), after)}>
        {words.removePort(number)}
      </button>
    </fieldset>
  );
}
