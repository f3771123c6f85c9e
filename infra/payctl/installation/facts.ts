import type { Now } from '../../../shared/core/time.ts';
import type { ClosedPart, OutboundState } from '../../local/control/disabled-parts.ts';
import type { Control } from './control.ts';
import type { FailureStore } from './failure-store.ts';

export interface QueueUrls {
  readonly queue: string;
  readonly url: string;
  readonly deadLetterUrl: string;
}

/** What tells one installation from another. */
export interface InstallationFacts {
  readonly name: string;
  /** The environment of the functions there. */
  readonly env: Readonly<Record<string, string>>;
  readonly queueUrls: readonly QueueUrls[];
  /** Where events are sent. @throws SettingsError where that cannot be read */
  readonly outbound: () => Promise<OutboundState>;
  /** undefined: guest tokens are open. */
  readonly whyNoGuestTokens: () => Promise<string | undefined>;
  /** Who hears of alarms; undefined: there are none. */
  readonly alarmSubscriptions: (() => Promise<{ readonly confirmed: number; readonly pending: number }>) | undefined;
  /** What the local host, which knows all its secrets, says of itself. */
  readonly closed: readonly ClosedPart[] | undefined;
  /** What readers of the stream have given up. */
  readonly failures: FailureStore;
  readonly now: Now;
  readonly control: Control | undefined;
}
