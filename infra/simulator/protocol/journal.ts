import * as z from 'zod';
import type { Store } from '../state/store.ts';
import type { Call, VendorCaller } from './vendor.ts';

/** The adapters' calls, without bodies and query strings, so no card number or secret is stored. */
export interface Journal {
  /** @returns the number of the call. The call has no status until the response is sent. */
  begin(started: StartedCall): number;
  answered(number: number, status: number): void;
  list(): JournalEntry[];
  clear(): void;
}

interface StartedCall {
  readonly at: number;
  readonly caller: VendorCaller;
  readonly call: Call;
  readonly idempotencyKey: string | undefined;
}

export interface JournalEntry {
  readonly at: string;
  readonly provider: string;
  readonly method: string;
  readonly path: string;
  readonly idempotency_key: string | null;
  /** Null if no response was sent (yet). */
  readonly status: number | null;
}

const rowSchema = z.object({
  at: z.int(),
  provider: z.string(),
  method: z.string(),
  path: z.string(),
  idempotency_key: z.string().nullable(),
  status: z.int().nullable(),
});

export const openJournal = (store: Store): Journal => ({
  begin: ({ at, caller, call, idempotencyKey }) =>
    store.run(
      'INSERT INTO journal (at, slot, caller, method, path, idempotency_key) VALUES (?, ?, ?, ?, ?, ?)',
      at,
      caller.slot,
      caller.kind,
      call.method,
      call.path,
      idempotencyKey ?? null,
    ).lastId,
  answered: (number, status) => {
    store.run('UPDATE journal SET status = ? WHERE seq = ?', status, number);
  },
  list: () =>
    store
      .rows(
        `SELECT at, slot AS provider, method, path, idempotency_key, status FROM journal
         WHERE caller = 'adapter' ORDER BY seq`,
      )
      .map((row) => rowSchema.parse(row))
      .map((row) => ({ ...row, at: new Date(row.at).toISOString() })),
  clear: () => {
    store.run('DELETE FROM journal');
  },
});
