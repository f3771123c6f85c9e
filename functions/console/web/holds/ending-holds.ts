/** @module Reads the holds of all payers that end soon. */

import { answerOf, api, nextCursor } from '../api/client.ts';
import { serviceNow } from '../api/local.ts';
import type { Payment } from '../api/types.ts';
import type { PageOf } from '../view/load.ts';

/** The same limit as in `payctl doctor`. */
const SOON_MS = 86_400_000;

/** Reads the holds that end within a day. The list covers 31 days, and no hold is older. */
export const readEndingHolds = async (cursor: string | undefined): Promise<PageOf<Payment>> => {
  const capture_before = new Date(serviceNow() + SOON_MS).toISOString();
  const { data } = await answerOf(
    api.GET('/admin/payments', { params: { query: { capture_before, limit: 100, cursor } } }),
  );
  return { rows: data.data, next: nextCursor(data.meta) };
};

/** True if the payment's hold ends within a day. */
export const endsSoon = (captureBefore: string): boolean => Date.parse(captureBefore) - serviceNow() <= SOON_MS;
