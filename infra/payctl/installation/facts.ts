import type { PaymentSlot } from '../../../shared/core/settings.ts';
import type { Now } from '../../../shared/core/time.ts';
import type { ClosedPart, OutboundState } from '../../local/control/disabled-parts.ts';
import type { Control } from './control.ts';
import type { FailureStore } from './failure-store.ts';

/** The connections between a deployed stage's parts and its table. */
export interface StageWiring {
  /** Every function with access to a table, with the table's name. */
  readonly functions: readonly { readonly name: string; readonly table: string }[];
  /** Every worker's event source, by logical id. */
  readonly sources: readonly { readonly id: string; readonly arn: string; readonly state: string }[];
  /** Every scheduled rule, by logical id. */
  readonly schedules: readonly { readonly id: string; readonly state: string }[];
}

export interface QueueUrls {
  readonly queue: string;
  readonly url: string;
  readonly deadLetterUrl: string;
}

/** The properties that differ between the local host and a deployed stage. */
export interface InstallationFacts {
  readonly name: string;
  /** The environment of the functions. */
  readonly env: Readonly<Record<string, string>>;
  readonly queueUrls: readonly QueueUrls[];
  /** The targets of outbound webhooks. @throws SettingsError if their settings are wrong */
  readonly outbound: () => Promise<OutboundState>;
  /** The reason why guest tokens are off; undefined if they are enabled. */
  readonly whyNoGuestTokens: () => Promise<string | undefined>;
  /** The ARN of a slot's signature secret. Empty if its values are in the environment. */
  readonly signatureSecretArn: (slot: PaymentSlot) => Promise<string>;
  /** Subscriptions to the alarms' topic. Undefined if the installation has no alarms. */
  readonly alarmSubscriptions: (() => Promise<{ readonly confirmed: number; readonly pending: number }>) | undefined;
  /**
   * The closed parts, as the local host reports them, because it knows all its secrets. Undefined for a deployed stage.
   */
  readonly closed: readonly ClosedPart[] | undefined;
  /** A deployed stage's wiring; undefined on the local host, which wires its own parts. */
  readonly wiring: (() => Promise<StageWiring>) | undefined;
  /** Changes that stream readers gave up on. */
  readonly failures: FailureStore;
  readonly now: Now;
  readonly control: Control | undefined;
}
