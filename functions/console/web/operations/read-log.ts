import { answerOf, api, nextOffset } from '../api/client.ts';
import type { WebhookLog } from '../api/types.ts';
import type { PageOf } from '../view/load.ts';

const PER_PAGE = 100;

interface LogFilters {
  readonly status?: WebhookLog['status'] | undefined;
  readonly event_type?: string | undefined;
}

/** One page of the log, inbound and outbound, newest first. */
export const readLog = async (filters: LogFilters, cursor = '0'): Promise<PageOf<WebhookLog>> => {
  const query = { ...filters, limit: PER_PAGE, offset: Number(cursor) };
  const { data, response } = await answerOf(api.GET('/webhooks/logs', { params: { query } }));
  return { rows: data, next: nextOffset(response) };
};
