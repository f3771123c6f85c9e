/** @module The log, JSON body, session and error middleware of the reference functions. */
import { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import httpErrorHandler from '@middy/http-error-handler';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import { createError } from '@middy/util';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type * as z from 'zod';
import { type Session, sessionOf } from './session.ts';

export const logger = new Logger({ serviceName: 'payments-reference' });

export type ApiEvent = Omit<APIGatewayProxyEventV2, 'body'> & { readonly body?: unknown };
type Respond = (event: ApiEvent, session: Session) => Promise<APIGatewayProxyStructuredResultV2>;

export const api = (respond: Respond, { hasBody }: { readonly hasBody: boolean }) =>
  middy<ApiEvent, APIGatewayProxyStructuredResultV2>()
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(httpErrorHandler({ logger: (error) => logger.warn('request failed', { error }) }))
    .use(hasBody ? [httpJsonBodyParser()] : [])
    .handler(async (event) => {
      const startedAt = performance.now();
      const response = await respond(event, await sessionOf(event.headers));
      logger.info('request served', {
        route: event.routeKey,
        status: response.statusCode,
        duration_ms: Math.round(performance.now() - startedAt),
      });
      return response;
    });

export const json = (statusCode: number, body: unknown, requestId: string): APIGatewayProxyStructuredResultV2 => ({
  statusCode,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store', 'x-request-id': requestId },
  body: JSON.stringify(body),
});

interface Problem {
  readonly code: string;
  readonly error: string;
  readonly details?: unknown;
}

export const failure = (statusCode: number, problem: Problem): Error =>
  createError(statusCode, JSON.stringify({ success: false, ...problem }));

/** @throws 400 with every problem of the body */
export const validated = <T extends z.ZodType>(schema: T, body: unknown): z.infer<T> => {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw failure(400, { code: 'VALIDATION_ERROR', error: 'The request is invalid', details: result.error.issues });
};
