import type * as z from 'zod';
import type { Clock } from '../../local/machine/clock.ts';
import type { Faults } from '../protocol/faults.ts';
import type { Journal } from '../protocol/journal.ts';
import type { Units } from '../protocol/ledger-work.ts';
import type { Outbox } from '../protocol/outbox.ts';
import type { Vendor } from '../protocol/vendor.ts';
import type { SimulatorOptions } from '../state/options.ts';

/** The dependencies of the control routes. */
export interface ControlParts {
  readonly clock: Clock;
  readonly options: SimulatorOptions;
  readonly units: Units;
  readonly outbox: Outbox;
  readonly journal: Journal;
  readonly faults: Faults;
  readonly vendors: readonly Vendor[];
  /** Runs due work and delivers due events, after the response to the current call. */
  readonly deliverNow: () => void;
}

export interface ControlCall {
  readonly url: URL;
  /** The `:id` of the path. */
  readonly id: string;
  readonly body: unknown;
  /** True if the customer page's form sent the call. */
  readonly fromPage: boolean;
}

/** Thrown by a route and returned as its response. */
export class ControlError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.name = 'ControlError';
    this.status = status;
  }
}

/** @throws ControlError 400 with every problem. */
export const parsed = <T extends z.ZodType>(schema: T, body: unknown): z.output<T> => {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw new ControlError(
    400,
    result.error.issues.map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`).join('; '),
  );
};
