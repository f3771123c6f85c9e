import { AsyncLocalStorage } from 'node:async_hooks';
import * as z from 'zod';
import type { SendPost } from '../../../shared/platform/aws-post.ts';
import { json, type LocalRequest, type LocalResponse } from './answer.ts';

/** The AWS JSON protocol: x-amz-target names the operation; request and response are JSON. */
export type Operation = (input: unknown) => unknown;
export type Operations = Readonly<Record<string, Operation>>;

const CONTENT_TYPE = 'application/x-amz-json-1.0';

interface AwsErrorFields {
  readonly queryCode?: string;
  readonly [field: string]: unknown;
}

/** An error as the SDK of that service understands it. */
export class AwsError extends Error {
  readonly type: string;
  /** The code of the older query protocol, by which SQS's SDKs still name some errors. */
  readonly queryCode: string | undefined;
  /** Further fields of the answer. */
  readonly details: object;
  constructor(type: string, message: string, { queryCode, ...details }: AwsErrorFields = {}) {
    super(message);
    this.name = type;
    this.type = type;
    this.queryCode = queryCode;
    this.details = details;
  }
}

export const operation =
  <Input>(schema: z.ZodType<Input>, run: (input: Input) => unknown): Operation =>
  (input) => {
    const parsed = schema.safeParse(input);
    if (!parsed.success) throw new AwsError('ValidationException', z.prettifyError(parsed.error));
    return run(parsed.data);
  };

/** Answers a request over HTTP. */
export const answerAws = async (operations: Operations, { headers, body }: LocalRequest): Promise<LocalResponse> => {
  const target = headers['x-amz-target'] ?? '';
  return answering(() => runOperation(operations, target, inputOf(body)));
};

/**
 * Sends requests of functions to the bus and the queues of this host without a connection to itself. What a request causes
 * is not the work of the function that sends it: it has neither its rights nor its actor.
 */
export const sendInProcess = (operations: () => Operations): SendPost => {
  const outside = AsyncLocalStorage.snapshot();
  return async ({ headers, body }) => {
    // The answer comes in a later turn, as over a network.
    await new Promise((resolve) => setImmediate(resolve));
    const target = headers['x-amz-target'] ?? '';
    const answer = () => answering(() => runOperation(operations(), target, JSON.parse(body)));
    const answered: LocalResponse = await outside(answer);
    return { status: answered.status, headers: { ...answered.headers }, body: Buffer.from(answered.body) };
  };
};

const runOperation = (operations: Operations, target: string, input: unknown): unknown => {
  const run = operations[target];
  if (!run) throw new AwsError('UnknownOperationException', `no such operation here: ${target}`);
  return run(input);
};

const answering = async (work: () => unknown): Promise<LocalResponse> => {
  try {
    return json(200, (await work()) ?? {}, CONTENT_TYPE);
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    const answer = json(400, { __type: error.type, message: error.message, ...error.details }, CONTENT_TYPE);
    const query = error.queryCode && { 'x-amzn-query-error': `${error.queryCode};Sender` };
    return { ...answer, headers: { ...answer.headers, ...query } };
  }
};

const inputOf = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8') || '{}');
  } catch {
    throw new AwsError('SerializationException', 'the body is not valid JSON');
  }
};
