import * as z from 'zod';
import { LOG_STATUSES, type LogRecord } from './log.ts';

/** What callers see of a log entry. */
export const logView = z.object({
  id: z.string(),
  provider: z.string(),
  event_type: z.string(),
  status: z.enum(LOG_STATUSES),
  direction: z.enum(['inbound', 'outbound']),
  attempt: z.int(),
  target: z.string().nullable(),
  event_id: z.string(),
  payload: z.unknown(),
  response: z.unknown(),
  created_at: z.string(),
});
export type LogView = z.infer<typeof logView>;

export const viewOfLog = (record: LogRecord): LogView => ({
  id: record.id,
  provider: record.provider,
  event_type: record.eventType,
  status: record.status,
  direction: record.direction,
  attempt: record.attempt,
  target: record.target ?? null,
  event_id: record.eventId,
  payload: record.payload,
  response: record.response,
  created_at: record.createdAt,
});

/** A hundred entries of the largest events would be more than one answer may hold. */
const LARGEST_LISTED = 16 * 1_024;

/** The same in a list, where a large payload gives way to its size. */
export const listedViewOfLog = (record: LogRecord): LogView => {
  const view = viewOfLog(record);
  const bytes = Buffer.byteLength(JSON.stringify(view.payload) ?? '');
  return bytes <= LARGEST_LISTED ? view : { ...view, payload: { left_out: true, bytes } };
};
