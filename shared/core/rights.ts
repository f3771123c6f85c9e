/** The queues of the service. Rights, triggers and hosts use the same names. */
export type QueueName = 'apply-provider-event' | 'follow-payment' | 'run-due' | 'webhook-dispatch' | 'webhook-delivery';

/** What a function may access. Each host grants exactly the declared rights. */
export type Right =
  | 'table:read'
  | 'table:write'
  | 'events:put'
  | 'secrets:providers'
  | 'secrets:guest-tokens'
  | 'secrets:webhooks'
  | `queue:send:${QueueName}`;
