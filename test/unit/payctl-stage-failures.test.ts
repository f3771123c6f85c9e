import { InvokeCommand, LambdaClient, ResourceNotFoundException } from '@aws-sdk/client-lambda';
import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, test } from 'vitest';
import { listFailures, redoFailures } from '../../infra/payctl/commands/failures.ts';
import type { Installation } from '../../infra/payctl/installation/installation.ts';
import { stageFailures } from '../../infra/payctl/installation/stage-failures.ts';

const s3 = mockClient(S3Client);
const lambda = mockClient(LambdaClient);
const clients = { s3: new S3Client({}), lambda: new LambdaClient({}) };
const place = { failures: stageFailures(clients, () => 'failures-of-dev') } as unknown as Installation;

const recordOf = (pk: string) => ({ eventName: 'INSERT', dynamodb: { Keys: { pk: { S: pk } }, SequenceNumber: '1' } });
/** A failed batch in the format that Lambda stores in the bucket. */
const left = (name: string, ...pks: readonly string[]) => ({
  requestContext: { functionArn: `arn:aws:lambda:eu-central-1:123456789012:function:${name}:$LATEST` },
  version: '1.0',
  timestamp: '2026-11-21T03:47:47.036Z',
  payload: JSON.stringify({ Records: pks.map(recordOf) }),
});
const keep = (objects: Readonly<Record<string, unknown>>): void => {
  const [first, ...others] = Object.keys(objects).map((Key) => ({ Key }));
  s3.on(ListObjectsV2Command, { Bucket: 'failures-of-dev' })
    .resolves({ Contents: first && [first], ...(others.length > 0 && { NextContinuationToken: 'more' }) })
    .on(ListObjectsV2Command, { Bucket: 'failures-of-dev', ContinuationToken: 'more' })
    .resolves({ Contents: others });
  for (const [Key, object] of Object.entries(objects)) {
    const Body = { transformToString: async () => JSON.stringify(object) };
    s3.on(GetObjectCommand, { Bucket: 'failures-of-dev', Key }).resolves({ Body: Body as never });
  }
};
const answers = (FunctionName: string, answer: unknown, FunctionError?: string): void => {
  const Payload = Buffer.from(JSON.stringify(answer)) as never;
  lambda.on(InvokeCommand, { FunctionName }).resolves({ Payload, ...(FunctionError && { FunctionError }) });
};
const deleted = () => s3.commandCalls(DeleteObjectCommand).map(({ args }) => args[0].input.Key);

beforeEach(() => {
  s3.reset();
  lambda.reset();
});

describe('a failed batch of a stage’s stream readers', () => {
  const objects = { 'aws/1': left('publish', 'PAY#1', 'PAY#2'), 'aws/2': left('project', 'PAY#3') };

  test('is listed with its reader and its records', async () => {
    keep(objects);
    expect(await listFailures(place)).toMatchObject({
      exitCode: 1,
      json: {
        total: 2,
        failures: [
          { id: 'aws/1', reader: 'publish', about: ['PAY#1', 'PAY#2'] },
          { id: 'aws/2', reader: 'project', about: ['PAY#3'] },
        ],
      },
    });
    keep({});
    expect(await listFailures(place)).toMatchObject({ exitCode: 0, json: { total: 0 } });
  });

  test('is counted in a dry run, which invokes no function', async () => {
    keep(objects);
    expect(await redoFailures(place, { dryRun: true })).toMatchObject({
      exitCode: 0,
      json: { dry_run: true, count: 2, by_reader: { project: 1, publish: 1 } },
    });
    expect([lambda.calls().length, deleted()]).toEqual([0, []]);
  });

  test('is sent unchanged to the same function, and leaves the bucket after a success', async () => {
    keep(objects);
    answers('publish', { batchItemFailures: [] });
    answers('project', null);
    expect(await redoFailures(place, {})).toMatchObject({ exitCode: 0, json: { count: 2, left: [] } });
    const [first] = lambda.commandCalls(InvokeCommand);
    const sent: unknown = JSON.parse(Buffer.from((first?.args[0].input.Payload ?? []) as Uint8Array).toString());
    expect(sent).toEqual({ Records: [recordOf('PAY#1'), recordOf('PAY#2')] });
    expect(deleted()).toEqual(['aws/1', 'aws/2']);
  });

  test('is kept with the reason if the function fails again', async () => {
    keep(objects);
    answers('publish', { batchItemFailures: [{ itemIdentifier: '1' }] });
    answers('project', { errorMessage: 'no' }, 'Unhandled');
    expect(await redoFailures(place, {})).toMatchObject({
      exitCode: 1,
      json: {
        count: 0,
        left: [
          { id: 'aws/1', reason: 'reported as failed' },
          { id: 'aws/2', reason: 'Unhandled: {"errorMessage":"no"}' },
        ],
      },
    });
    expect(deleted()).toEqual([]);
  });

  test('is kept if its function no longer exists, and does not block other batches', async () => {
    keep(objects);
    const gone = new ResourceNotFoundException({ message: 'gone', $metadata: {} });
    lambda.on(InvokeCommand, { FunctionName: 'publish' }).rejects(gone);
    answers('project', { batchItemFailures: [] });
    expect(await redoFailures(place, {})).toMatchObject({
      exitCode: 1,
      json: { count: 1, left: [{ id: 'aws/1', reason: 'the function publish no longer exists' }] },
    });
    expect(deleted()).toEqual(['aws/2']);
  });

  test('is refused if its object is not a failed batch', async () => {
    keep({ 'alien.txt': { hello: 'world' } });
    await expect(listFailures(place)).rejects.toThrow('alien.txt is not a failure object of a stream reader');
  });
});
