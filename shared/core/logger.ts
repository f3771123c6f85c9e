/** @module Writes log lines as JSON. Uses no library, because every function loads this file and must start fast. */

import type { LogFields, LogMessage } from './log-line.ts';
import { metricsOf } from './metrics.ts';
import { currentSpan } from './trace.ts';

export interface Log {
  info(message: LogMessage, fields: LogFields): void;
  warn(message: LogMessage, fields: LogFields): void;
  error(message: LogMessage, fields: LogFields): void;
}

export interface LogOptions {
  readonly level: 'INFO' | 'ERROR' | 'SILENT';
  readonly stage: string;
  /** The trace header of the current request, if the host provides it. */
  readonly trace?: () => string | undefined;
}

/**
 * Information goes to stdout, warnings and errors to stderr. The local host has no CloudWatch, so its lines contain no
 * metrics.
 */
export const jsonLog = ({ level, stage, trace }: LogOptions): Log => {
  const write =
    (lineLevel: keyof typeof OUTPUTS, isWritten: boolean) =>
    (message: LogMessage, fields: LogFields): void => {
      if (!isWritten) return;
      const at = Date.now();
      const line = {
        level: lineLevel,
        message,
        timestamp: new Date(at).toISOString(),
        service: 'payments',
        ...spanFields(),
        ...traceOf(trace?.()),
        ...fields,
        ...(stage !== 'local' && metricsOf({ stage, message, fields, at })),
      };
      process[OUTPUTS[lineLevel]].write(`${JSON.stringify(line)}\n`);
    };
  return {
    info: write('INFO', level === 'INFO'),
    warn: write('WARN', level === 'INFO'),
    error: write('ERROR', level !== 'SILENT'),
  };
};

const OUTPUTS = { INFO: 'stdout', WARN: 'stderr', ERROR: 'stderr' } as const;

const spanFields = () => {
  const span = currentSpan();
  return span && { trace_id: span.traceId, span_id: span.spanId };
};

const traceOf = (header: string | undefined) => {
  const [, root] = /Root=([^;]+)/.exec(header ?? '') ?? [];
  return root !== undefined && { xray_trace_id: root };
};

/** Name and stack of a bug, for the log only. Omits the message, because it may contain personal data. */
export const errorFields = (error: unknown): LogFields =>
  error instanceof Error
    ? { error_name: error.name, error_stack: (error.stack ?? '').split('\n').slice(1, 8).join('\n') }
    : { error_name: typeof error };
