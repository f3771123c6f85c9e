import * as z from 'zod';
import type { ProviderSlot } from '../../../shared/core/settings.ts';
import type { Store } from '../state/store.ts';
import type { Answer, Call, VendorIdempotency } from './vendor.ts';

/**
 * Stored responses by idempotency key. Keys in flight are only in memory, so a killed process leaves no such key
 * behind.
 */
export interface KeptVendorAnswers {
  find(slot: ProviderSlot, key: string, at: number): KeptVendorAnswer | undefined;
  /** Must run within the transaction of the call. */
  keep(
    slot: ProviderSlot,
    kept: KeptVendorAnswer & { readonly key: string; readonly expiresAt: number; readonly at: number },
  ): void;
  claim(slot: ProviderSlot, key: string): boolean;
  release(slot: ProviderSlot, key: string): void;
}

export interface KeptVendorAnswer {
  readonly path: string;
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string;
  readonly requestId: string;
}

const rowSchema = z.object({
  path: z.string(),
  fingerprint: z.string(),
  status: z.int(),
  body: z.string(),
  requestId: z.string(),
});

export const openKeptVendorAnswers = (store: Store): KeptVendorAnswers => {
  const inFlight = new Set<string>();
  return {
    find: (slot, key, at) => {
      const row = store.row(
        `SELECT path, fingerprint, status, body, request_id AS requestId FROM idempotency
         WHERE slot = ? AND key = ? AND expires_at > ?`,
        slot,
        key,
        at,
      );
      return row === undefined ? undefined : rowSchema.parse(row);
    },
    keep: (slot, kept) => {
      store.run('DELETE FROM idempotency WHERE expires_at <= ?', kept.at);
      store.run(
        `INSERT INTO idempotency (slot, key, path, fingerprint, status, body, request_id, expires_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        slot,
        kept.key,
        kept.path,
        kept.fingerprint,
        kept.status,
        kept.body,
        kept.requestId,
        kept.expiresAt,
      );
    },
    claim: (slot, key) => {
      const name = `${slot}:${key}`;
      if (inFlight.has(name)) return false;
      inFlight.add(name);
      return true;
    },
    release: (slot, key) => {
      inFlight.delete(`${slot}:${key}`);
    },
  };
};

/** The response to a repeated key: the first response again, or a refusal. */
export const answerOfUsedKey = (
  kept: KeptVendorAnswer,
  { key, call }: { readonly key: string; readonly call: Call },
  rules: VendorIdempotency,
): Answer => {
  const refusal = kept.fingerprint === rules.fingerprintOf(call) ? undefined : rules.reused(key, call, kept.path);
  if (refusal) return refusal;
  const status = rules.replayStatus?.(kept.status, call) ?? kept.status;
  return { status, body: kept.body, headers: rules.replayHeaders(kept.requestId), began: true };
};
