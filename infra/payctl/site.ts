import type { Now } from '../../shared/core/time.ts';
import type { Control } from './control.ts';

export interface QueueUrls {
  readonly queue: string;
  readonly url: string;
  readonly deadLetterUrl: string;
}

/** What tells one place from another. */
export interface Site {
  readonly name: string;
  /** The environment of the functions there. */
  readonly env: Readonly<Record<string, string>>;
  readonly queueUrls: readonly QueueUrls[];
  readonly now: Now;
  readonly control: Control | undefined;
}
