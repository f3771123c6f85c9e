import { createHash } from 'node:crypto';
import { type AwsSite, openAwsService } from './aws-service.ts';
import type { PutEvents } from './bus.ts';
import type { QueueOperations } from './queues.ts';
import { thinOperations } from './thin-operations.ts';

/** The services of AWS by the thin client. */
export const thinDynamo = (site: AwsSite) => thinOperations(openAwsService('dynamodb', site));

const SECOND_MS = 1_000;

export const thinPutEvents = (site: AwsSite): PutEvents => {
  const call = openAwsService('events', site);
  return ({ Entries = [] }) =>
    call('PutEvents', { Entries: Entries.map(({ Time, ...entry }) => ({ ...entry, ...(Time && epoch(Time)) })) });
};

/** EventBridge takes times as epoch seconds. */
const epoch = (time: Date) => ({ Time: time.getTime() / SECOND_MS });

interface SentBatch {
  readonly Successful?: readonly { readonly Id: string; readonly MD5OfMessageBody: string }[];
  readonly Failed?: Awaited<ReturnType<QueueOperations['sendBatch']>>['Failed'];
}

export const thinQueues = (site: AwsSite): QueueOperations => {
  const call = openAwsService('sqs', site);
  return {
    sendBatch: async (input) => {
      const answer = await call<SentBatch>('SendMessageBatch', input);
      const bodies = new Map(input.Entries?.map(({ Id, MessageBody = '' }) => [Id, MessageBody]));
      const isOther = answer.Successful?.some(({ Id, MD5OfMessageBody }) => MD5OfMessageBody !== md5(bodies.get(Id)));
      if (isOther) throw new Error('the queue accepted a message with another body');
      return { Failed: answer.Failed };
    },
    changeVisibility: (input) => call('ChangeMessageVisibility', input),
    attributes: (input) => call('GetQueueAttributes', input),
  };
};

const md5 = (text = ''): string => createHash('md5').update(text).digest('hex');

export const thinReadSecret = (site: AwsSite) => {
  const call = openAwsService('secretsmanager', site);
  return async (SecretId: string): Promise<string> =>
    (await call<{ readonly SecretString?: string }>('GetSecretValue', { SecretId })).SecretString ?? '';
};
