import type { LogFields, LogMessage } from '../../shared/core/log-line.ts';
import type { Log } from '../../shared/core/logger.ts';

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: LogMessage;
  readonly fields: LogFields;
}

/** A log that records its lines. */
export const logLines = (): { readonly log: Log; readonly lines: readonly LogLine[] } => {
  const lines: LogLine[] = [];
  const keep = (level: LogLine['level']) => (message: LogMessage, fields: LogFields) => {
    lines.push({ level, message, fields });
  };
  return { log: { info: keep('info'), warn: keep('warn'), error: keep('error') }, lines };
};
