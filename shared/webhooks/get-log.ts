import type { WebDeps } from '../http/exchange.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { logKey } from '../table/keys.ts';
import { type LogRecord, logRecordOf } from './log.ts';
import { requireSight } from './log-access.ts';
import { viewOfLog } from './log-view.ts';

type GetLogDeps = Pick<WebDeps, 'table' | 'standings'>;

export const getLog = async (deps: GetLogDeps, request: ApiRequest<{ id: string }>): Promise<Reply> => ({
  data: viewOfLog(await logFor(deps, request)),
});

/** The entry of the path, where this caller may see it. */
export const logFor = async (
  deps: GetLogDeps,
  { caller, params }: Pick<ApiRequest<{ id: string }>, 'caller' | 'params'>,
): Promise<LogRecord> => {
  const item = await deps.table.get(logKey(params.id));
  return requireSight(deps, caller, item && logRecordOf(item));
};
