import { Webhook } from 'standardwebhooks';
import { vi } from 'vitest';
import { LOCAL_SECRETS } from '../../infra/local/machine/environment.ts';
import type { ParsedJson, TestHost } from './host.ts';

/** Outbound webhooks as their receivers see them: the local host's sinks, and an independent verifier. */
export const SECRET = LOCAL_SECRETS.WEBHOOK_1_SECRET;

/** What a sink has got. */
export interface DeliveredWebhook {
  readonly received_at: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ParsedJson;
  readonly raw: string;
}

export const sinkUrl = (port: number, sink: string): string => `http://127.0.0.1:${port}/_local/sink/${sink}`;

type Node = Readonly<Record<'EVENTS' | 'EVENT_MODE' | 'SECRET' | 'FORMAT', string>>;

/** Settings of nodes, the n-th for the sink of that name. */
export const nodesAt = (port: number, nodes: Readonly<Record<string, Partial<Node>>>): Record<string, string> => ({
  EXTERNAL_WEBHOOKS_ENABLED: 'true',
  ...Object.fromEntries(
    Object.entries(nodes).flatMap(([sink, node], index) =>
      Object.entries({ URL: sinkUrl(port, sink), ...node }).map(([field, value]) => [
        `WEBHOOK_${index + 1}_${field}`,
        value,
      ]),
    ),
  ),
});

/** Everything that came to a sink, or what came of one event, oldest first. */
export const deliveredTo = async (service: TestHost, sink: string, event?: string): Promise<DeliveredWebhook[]> => {
  const all: DeliveredWebhook[] = await service.sink(sink);
  return event === undefined ? all : all.filter(({ headers }) => headers['webhook-event'] === event);
};

export const eventOf = ({ headers }: DeliveredWebhook): string => headers['webhook-event'] ?? '';
export const webhookIdOf = ({ headers }: DeliveredWebhook): string => headers['webhook-id'] ?? '';

/** As a receiver would, at the moment in which it was sent. @throws where the signature is not of this secret. */
export const verified = (
  { headers, raw }: Pick<DeliveredWebhook, 'headers' | 'raw'>,
  secret: string = SECRET,
): ParsedJson => {
  vi.useFakeTimers({ toFake: ['Date'], now: Number(headers['webhook-timestamp']) * 1_000 });
  try {
    return new Webhook(secret).verify(raw, { ...headers });
  } finally {
    vi.useRealTimers();
  }
};
