import type { WebDeps } from '../http/exchange.ts';
import { type OffsetPage, offsetReply } from '../http/paging.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import type { Clause } from '../table/expression.ts';
import { listTogether } from '../table/listing.ts';
import { type LogStatus, logPartitions, logRecordOf } from './log.ts';
import { logScopeOf } from './log-access.ts';
import { listedViewOfLog } from './log-view.ts';

export interface LogsQuery extends OffsetPage {
  readonly provider?: string | undefined;
  readonly event_type?: string | undefined;
  readonly status?: LogStatus | undefined;
}

/** Newest first. A page costs the same however many entries there are. */
export const listLogs = async (
  deps: Pick<WebDeps, 'table' | 'standings'>,
  { caller, query }: ApiRequest<unknown, LogsQuery>,
): Promise<Reply> => {
  const { index, partitions } = logPartitions(await logScopeOf(deps, caller), query.status);
  const listed = await listTogether(deps.table, partitions, {
    index,
    filter: filterOf(query),
    offset: query.offset,
    limit: query.limit,
  });
  const items = await deps.table.getMany(listed.rows);
  const entries = items.flatMap((item) => (item ? [listedViewOfLog(logRecordOf(item))] : []));
  return offsetReply(entries, listed, query);
};

const filterOf = ({ provider, event_type: eventType }: LogsQuery): readonly Clause[] => [
  ...(provider === undefined ? [] : [{ equals: ['f.p', provider] as const }]),
  ...(eventType === undefined ? [] : [{ equals: ['f.e', eventType] as const }]),
];
