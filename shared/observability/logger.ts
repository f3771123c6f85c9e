import { Logger } from '@aws-lambda-powertools/logger';
import type { LogFields, LogMessage } from './log-line.ts';
import { metricsOf } from './metrics.ts';

export interface Log {
  info(message: LogMessage, fields: LogFields): void;
  warn(message: LogMessage, fields: LogFields): void;
  error(message: LogMessage, fields: LogFields): void;
}

export interface LogOptions {
  readonly level: 'INFO' | 'ERROR' | 'SILENT';
  readonly stage: string;
}

/**
 * JSON lines on standard output, which CloudWatch collects. The local host has no CloudWatch: its lines carry no
 * metrics.
 */
export const jsonLog = ({ level, stage }: LogOptions): Log => {
  const logger = new Logger({ serviceName: 'payments', logLevel: level });
  const line = (message: LogMessage, fields: LogFields) => ({
    ...fields,
    ...(stage !== 'local' && metricsOf({ stage, message, fields, at: Date.now() })),
  });
  return {
    info: (message, fields) => logger.info(message, line(message, fields)),
    warn: (message, fields) => logger.warn(message, line(message, fields)),
    error: (message, fields) => logger.error(message, line(message, fields)),
  };
};

/** Name and stack of a bug, for the log only. The message is left out, because it may contain personal data. */
export const errorFields = (error: unknown): LogFields =>
  error instanceof Error
    ? { error_name: error.name, error_stack: (error.stack ?? '').split('\n').slice(1, 8).join('\n') }
    : { error_name: typeof error };
