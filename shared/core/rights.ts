/** The queues of the service, by the name that rights, triggers and hosts share. */
export type QueueName = 'apply-provider-event' | 'follow-payment' | 'run-due' | 'webhook-dispatch' | 'webhook-delivery';

/** What a function may touch; each host grants exactly this. */
export type Right =
  | 'table:read'
  | 'table:write'
  | 'events:put'
  | 'secrets:providers'
  | 'secrets:guest-tokens'
  | 'secrets:webhooks'
  | `queue:send:${QueueName}`;
