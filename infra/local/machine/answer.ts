import type * as z from 'zod';

/** An HTTP response of a local stand-in. */
export interface LocalResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface LocalRequest {
  readonly method: string;
  /** The path without the stand-in's prefix and the query, still percent-encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Aborts when the caller disconnects; undefined for a caller without a connection. */
  readonly signal: AbortSignal | undefined;
}

export const json = (status: number, value: unknown, contentType = 'application/json'): LocalResponse => ({
  status,
  headers: { 'content-type': contentType },
  body: JSON.stringify(value),
});

export const problem = (status: number, error: string): LocalResponse => json(status, { error });

/** An invalid request to a control route; the response is a 400 or 404. */
export class ControlRequestError extends Error {
  readonly status: number;
  constructor(status: 400 | 404, message: string) {
    super(message);
    this.name = 'AskError';
    this.status = status;
  }
}

/**
 * The JSON body, parsed by the schema. An empty body counts as `{}`. @throws ControlRequestError 400 with every
 * problem.
 */
export const bodyOf = <T>(ask: LocalRequest, schema: z.ZodType<T>): T => {
  const parsed = schema.safeParse(parseJson(ask.body.toString('utf8')));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`);
  throw new ControlRequestError(400, problems.join('; '));
};

const parseJson = (text: string): unknown => {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new ControlRequestError(400, 'the body is not valid JSON');
  }
};
