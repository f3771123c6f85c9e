import { Logger } from '@aws-lambda-powertools/logger';

/**
 * Log lines carry catalogued messages and allow-listed fields only: no body, card data, secret, token or e-mail ever
 * reaches one, because nothing outside these fields can be said.
 */
export interface LogFields {
  readonly request_id?: string;
  readonly endpoint?: string;
  readonly trigger?: string;
  readonly status?: number;
  readonly code?: string;
  readonly duration_ms?: number;
  readonly caller?: 'session' | 'guest' | 'anonymous';
  readonly payment_id?: string;
  readonly subscription_id?: string;
  readonly event_id?: string;
  readonly event_type?: string;
  readonly provider?: string;
  readonly outcome?: string;
  readonly reason?: string;
  readonly count?: number;
  readonly attempt?: number;
  readonly target?: string;
  readonly error_name?: string;
  readonly error_stack?: string;
}

export type LogMessage =
  | 'request served'
  | 'request failed'
  | 'provider called'
  | 'provider event applied'
  | 'provider event refused'
  | 'webhook dispatched'
  | 'webhook delivered'
  | 'webhook dropped'
  | 'payment anomaly'
  | 'method not saved yet'
  | 'subscription anomaly'
  | 'periods let go'
  | 'payment followed'
  | 'appointment kept'
  | 'appointments swept'
  | 'changes published'
  | 'changes projected'
  | 'consumer failed';

export interface Log {
  info(message: LogMessage, fields: LogFields): void;
  warn(message: LogMessage, fields: LogFields): void;
  error(message: LogMessage, fields: LogFields): void;
}

/** JSON lines on standard output, as CloudWatch keeps them. */
export const jsonLog = (level: 'INFO' | 'ERROR' | 'SILENT'): Log => {
  const logger = new Logger({ serviceName: 'payments', logLevel: level });
  return {
    info: (message, fields) => logger.info(message, { ...fields }),
    warn: (message, fields) => logger.warn(message, { ...fields }),
    error: (message, fields) => logger.error(message, { ...fields }),
  };
};

/** Name and stack of a bug, for the log alone; its message may hold data and is left out. */
export const errorFields = (error: unknown): LogFields =>
  error instanceof Error
    ? { error_name: error.name, error_stack: (error.stack ?? '').split('\n').slice(1, 8).join('\n') }
    : { error_name: typeof error };
