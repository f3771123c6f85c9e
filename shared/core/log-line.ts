/**
 * @module The messages and fields of log lines. Lines contain only catalogued messages and allow-listed fields, so no
 * body, card data, secret, token or e-mail can reach a log.
 */

export interface LogFields {
  readonly request_id?: string;
  readonly endpoint?: string;
  readonly trigger?: string;
  readonly status?: number;
  readonly code?: string;
  readonly duration_ms?: number;
  readonly caller?: 'session' | 'guest' | 'organization' | 'key' | 'anonymous';
  /** The id of the request's service key, never its secret. */
  readonly key_id?: string;
  readonly payment_id?: string;
  readonly subscription_id?: string;
  readonly refund_id?: string;
  readonly dispute_id?: string;
  readonly erasure_id?: string;
  /** A user id. */
  readonly actor_id?: string;
  /** Kind and id of a reference record. For an erasure, the user's id, or only `email`. */
  readonly record?: string;
  readonly event_id?: string;
  readonly event_type?: string;
  readonly provider?: string;
  readonly outcome?: string;
  readonly reason?: string;
  readonly count?: number;
  readonly failed?: number;
  readonly attempt?: number;
  readonly target?: string;
  readonly error_name?: string;
  readonly error_stack?: string;
}

export type LogMessage =
  | 'request served'
  | 'request failed'
  | 'guest token secret refused'
  | 'secret not read again'
  | 'provider called'
  | 'provider event applied'
  | 'provider event refused'
  | 'webhook dispatched'
  | 'webhook delivered'
  | 'webhook dropped'
  | 'webhook log deferred'
  | 'payment anomaly'
  | 'key declines limited'
  | 'money back not read'
  | 'refund anomaly'
  | 'refund settled'
  | 'refund stuck'
  | 'dispute changed'
  | 'dispute due soon'
  | 'payment settled'
  | 'payment stuck'
  | 'method not saved yet'
  | 'subscription anomaly'
  | 'subscription stuck'
  | 'missed periods skipped'
  | 'payment followed'
  | 'reference record changed'
  | 'erasure requested'
  | 'due work done'
  | 'due work queued'
  | 'due work waits'
  | 'due work put back'
  | 'changes published'
  | 'changes projected'
  | 'missing aliases written'
  | 'health probed'
  | 'consumer failed';
