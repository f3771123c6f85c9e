import { InvokeCommand, type LambdaClient, ResourceNotFoundException } from '@aws-sdk/client-lambda';
import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import * as z from 'zod';
import { NotReachable } from './control.ts';
import type { FailureStore } from './failure-store.ts';

export interface FailureClients {
  readonly s3: Pick<S3Client, 'send'>;
  readonly lambda: Pick<LambdaClient, 'send'>;
}

const recordsSchema = z.object({
  Records: z.array(
    z.looseObject({
      dynamodb: z.looseObject({ Keys: z.looseObject({ pk: z.object({ S: z.string() }) }) }),
    }),
  ),
});
/**
 * The object that Lambda stores for a batch of changes that left the stream. It names the reader. In a bucket, it also
 * includes the event.
 */
const objectSchema = z.object({
  timestamp: z.string(),
  requestContext: z.object({ functionArn: z.string() }),
  payload: z.union([z.string().transform((text) => JSON.parse(text)), z.looseObject({})]).pipe(recordsSchema),
});

/** The failed changes of a stage's stream readers, in the bucket of its events stack. */
export const stageFailures = ({ s3, lambda }: FailureClients, bucket: () => string): FailureStore => {
  const load = async (Key: string): Promise<z.infer<typeof objectSchema>> => {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket(), Key }));
    const found = objectSchema.safeParse(JSON.parse((await Body?.transformToString()) ?? ''));
    if (found.data) return found.data;
    throw new NotReachable(`${Key} is not a failure object of a stream reader`);
  };
  return {
    ids: async function* () {
      let ContinuationToken: string | undefined;
      do {
        const page = await s3.send(new ListObjectsV2Command({ Bucket: bucket(), ContinuationToken }));
        for (const { Key } of page.Contents ?? []) if (Key !== undefined) yield Key;
        ContinuationToken = page.NextContinuationToken;
      } while (ContinuationToken !== undefined);
    },
    read: async (id) => {
      const { timestamp, requestContext, payload } = await load(id);
      return {
        id,
        reader: functionNameOf(requestContext.functionArn),
        failedAt: timestamp,
        about: payload.Records.map(({ dynamodb }) => dynamodb.Keys.pk.S),
      };
    },
    redo: async (id) => {
      const { requestContext, payload } = await load(id);
      const reason = await invokeReader(lambda, functionNameOf(requestContext.functionArn), payload);
      // The bucket keeps versions, so the object can be restored until it expires.
      if (reason === undefined) await s3.send(new DeleteObjectCommand({ Bucket: bucket(), Key: id }));
      return reason;
    },
  };
};

/** `arn:aws:lambda:<region>:<account>:function:<name>`, with or without a version. */
const functionNameOf = (arn: string): string => arn.split(':')[6] ?? arn;

const answerSchema = z
  .object({ batchItemFailures: z.array(z.unknown()).default([]) })
  .nullable()
  .transform((answer) => answer?.batchItemFailures ?? []);

const invokeReader = async (
  lambda: FailureClients['lambda'],
  FunctionName: string,
  event: unknown,
): Promise<string | undefined> => {
  const Payload = Buffer.from(JSON.stringify(event));
  const answer = await lambda.send(new InvokeCommand({ FunctionName, Payload })).catch(ignoreMissing);
  if (answer === undefined) return `the function ${FunctionName} no longer exists`;
  const said = Buffer.from(answer.Payload ?? []).toString('utf8');
  if (answer.FunctionError !== undefined) return `${answer.FunctionError}: ${said}`;
  return answerSchema.parse(JSON.parse(said || 'null')).length === 0 ? undefined : 'reported as failed';
};

const ignoreMissing = (error: unknown): undefined => {
  if (!(error instanceof ResourceNotFoundException)) throw error;
};
