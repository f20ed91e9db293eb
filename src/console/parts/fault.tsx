import { useSignal } from "@preact/signals";
import { Component, type ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { queryFault } from "../../client/index.ts";
import { errorText, SvcError } from "../../util/index.ts";
import { isSilence } from "../live/ask.ts";
import { link } from "../live/route.ts";
import { t } from "../text/index.ts";
import { Heading, Strange } from "./text.tsx";

/** Why something is not known, or what `title` says instead, with the remedy. Nothing is shown in its place. */
export function Fault({ error, title = t.fault.unknown }: { error: unknown; title?: string }) {
  if (queryFault(error) === "NotFound") return <p class="none">{t.fault.absent}</p>;
  return (
    <div class="fault" role="status">
      <p>{isSilence(error) ? t.fault.noAnswer : title}</p>
      <p>
        <Strange text={errorText(error)} max={1000} />
      </p>
      <Remedy error={error} />
    </div>
  );
}

/** The remedies are a file of their own, which is loaded with the first fault. */
function Remedy({ error }: { error: unknown }) {
  const hint = useSignal(error instanceof SvcError ? error.hint : undefined);
  useEffect(() => {
    if (hint.value !== undefined || !(error instanceof SvcError)) return;
    const { codespace, code, message } = error;
    import("../live/remedies.ts").then(
      ({ remedyOf }) => {
        hint.value = remedyOf(codespace, code, message);
      },
      () => undefined,
    );
  }, [error]);
  if (hint.value === undefined || hint.value === "") return null;
  return (
    <p class="remedy">
      {t.fault.remedy}: {hint.value}
    </p>
  );
}

/** Keeps a fault of one page from the others. */
export class Boundary extends Component<{ children: ComponentChildren }, { error?: unknown }> {
  override state: { error?: unknown } = {};

  override componentDidCatch(error: unknown): void {
    this.setState({ error });
  }

  override render() {
    if (this.state.error === undefined) return this.props.children;
    return (
      <div class="fault" role="alert">
        <p>{t.fault.page}</p>
        <p>
          <Strange text={errorText(this.state.error)} max={1000} />
        </p>
        <button type="button" onClick={() => location.reload()}>
          {t.fault.reload}
        </button>
      </div>
    );
  }
}

/** For addresses that name no page. */
export function Missing() {
  return (
    <>
      <Heading title={t.missing.title} />
      <p>
        <a href={link()}>{t.missing.home}</a>
      </p>
    </>
  );
}
