import * as z from 'zod';
import { json, type LocalRequest, type LocalResponse } from './answer.ts';

/** An operation of AWS's JSON protocol. The header x-amz-target names the operation; request and response are JSON. */
export type Operation = (input: unknown) => unknown;
export type Operations = Readonly<Record<string, Operation>>;

const CONTENT_TYPE = 'application/x-amz-json-1.0';

interface AwsErrorFields {
  readonly queryCode?: string;
  readonly [field: string]: unknown;
}

/** An error in the format that AWS SDKs parse. */
export class AwsError extends Error {
  readonly type: string;
  /** The error's code in the older query protocol, which SQS clients still read for some errors. */
  readonly queryCode: string | undefined;
  /** Additional fields of the error response. */
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

/** Serves a request over HTTP. */
export const answerAws = async (
  operations: Operations,
  { headers, body }: Pick<LocalRequest, 'headers' | 'body'>,
): Promise<LocalResponse> => {
  const target = headers['x-amz-target'] ?? '';
  return answering(() => runOperation(operations, target, inputOf(body)));
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
