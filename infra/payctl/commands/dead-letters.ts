import {
  ChangeMessageVisibilityCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
} from '@aws-sdk/client-sqs';
import * as z from 'zod';
import { NotReachable } from '../installation/control.ts';
import type { QueueUrls } from '../installation/facts.ts';
import type { Installation } from '../installation/installation.ts';
import { columns, type Report } from './report.ts';

/** Lists messages that exhausted their retries. */
export const listDeadLetters = async (installation: Installation, queue?: string): Promise<Report> => {
  const queues = [];
  for (const urls of selectQueues(installation, queue)) {
    const { count } = await readQueueAttributes(installation, urls.deadLetterUrl);
    queues.push({
      queue: urls.queue,
      count,
      messages: count === 0 ? [] : await peek(installation, urls.deadLetterUrl),
    });
  }
  const total = queues.reduce((sum, { count }) => sum + count, 0);
  return {
    json: { total, queues },
    lines: [
      ...columns(queues.map(({ queue: name, count }) => [name, String(count)])),
      ...queues.flatMap(({ queue: name, messages }) =>
        messages.length === 0
          ? []
          : ['', `${name}:`, ...columns(messages.map((one) => [one.id, one.sent_at, one.about]))],
      ),
    ],
    exitCode: total === 0 ? 0 : 1,
  };
};

/** The named queue, or all queues if no queue is named. @throws NotReachable if no queue has this name */
export const selectQueues = ({ queueUrls }: Installation, queue: string | undefined): readonly QueueUrls[] => {
  const found = queueUrls.filter((one) => queue === undefined || one.queue === queue);
  if (found.length > 0) return found;
  throw new NotReachable(`no queue ${queue}; queues: ${queueUrls.map((one) => one.queue).join(', ')}`);
};

const attributesSchema = z.object({ QueueArn: z.string(), ApproximateNumberOfMessages: z.coerce.number() });

export const readQueueAttributes = async (
  { sqs }: Installation,
  url: string,
): Promise<{ count: number; arn: string }> => {
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['QueueArn', 'ApproximateNumberOfMessages'] }),
  );
  const { QueueArn: arn, ApproximateNumberOfMessages: count } = attributesSchema.parse(Attributes);
  return { count, arn };
};

const MOST_SHOWN = 100;
const BATCH = 10;
const HIDDEN_SECONDS = 10;

interface DeadLetter {
  readonly id: string;
  readonly sent_at: string;
  readonly about: string;
}

/** Reads up to about a hundred messages, then makes them visible again. */
const peek = async ({ sqs }: Installation, url: string): Promise<readonly DeadLetter[]> => {
  const seen: Message[] = [];
  while (seen.length < MOST_SHOWN) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: url,
        MaxNumberOfMessages: BATCH,
        VisibilityTimeout: HIDDEN_SECONDS,
        MessageSystemAttributeNames: ['SentTimestamp'],
      }),
    );
    if (Messages.length === 0) break;
    seen.push(...Messages);
  }
  for (const { ReceiptHandle } of seen) {
    await sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl: url, ReceiptHandle, VisibilityTimeout: 0 }));
  }
  return seen.map(({ MessageId = '', Attributes, Body = '' }) => ({
    id: MessageId,
    sent_at: new Date(Number(Attributes?.SentTimestamp ?? 0)).toISOString(),
    about: describeBody(Body),
  }));
};

const text = z.string().optional();
const bodySchema = z.object({
  event: text,
  target: text,
  pk: text,
  'detail-type': text,
  detail: z.object({ id: text, event_id: text }).optional(),
});

/** Shows names and ids, but not an event's content. */
const describeBody = (body: string): string => {
  const { event, target, pk, detail, 'detail-type': type } = bodySchema.safeParse(parseJson(body)).data ?? {};
  return [event ?? type, target && `to ${target}`, pk, detail?.id ?? detail?.event_id].filter(Boolean).join(' ');
};

const parseJson = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};
