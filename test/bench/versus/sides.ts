/** @module The two compared sides, this service's deployed functions and the reference's. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import type { FunctionContext } from '../../../infra/local/machine/invoke.ts';
import { type REQUESTS, STATUSES } from './payment-requests.ts';
import type { Measured } from './reference-functions.ts';

export const SIDES = ['ours', 'theirs'] as const;
export type Side = (typeof SIDES)[number];

/** Measurements of both sides, one value per round. */
export const timesSchema = z.object({ ours: z.array(z.number()), theirs: z.array(z.number()) });
export type Times = z.infer<typeof timesSchema>;

const OURS: Readonly<Record<Measured, string>> = {
  get: 'payments.get',
  create: 'payments.create-intent',
  confirm: 'payments.confirm',
};

/** @param folder contains the bundles of both sides */
export const fileOf = (folder: string, side: Side, name: Measured): string =>
  side === 'ours' ? join(folder, side, OURS[name], 'index.mjs') : join(folder, side, `${name}.mjs`);

export type Request = ReturnType<(typeof REQUESTS)[Measured]>;
type Handler = (
  event: Request,
  context: FunctionContext,
) => Promise<{ readonly statusCode: number; readonly body?: unknown }>;
export type Handlers = Readonly<Record<Measured, Handler>>;

const entrySchema = z.object({ handler: z.custom<Handler>((value) => typeof value === 'function') });

/** Loads the functions into this process, so they read its environment. */
export const handlersOf = async (folder: string, side: Side): Promise<Handlers> => {
  const load = async (name: Measured): Promise<Handler> =>
    entrySchema.parse(await import(pathToFileURL(fileOf(folder, side, name)).href)).handler;
  return { get: await load('get'), create: await load('create'), confirm: await load('confirm') };
};

export const CONTEXT: FunctionContext = {
  awsRequestId: 'bench',
  functionName: 'bench',
  functionVersion: '1',
  invokedFunctionArn: 'arn:aws:lambda:local:000000000000:function:bench',
  memoryLimitInMB: '1024',
  logGroupName: 'bench',
  logStreamName: 'bench',
  callbackWaitsForEmptyEventLoop: true,
  getRemainingTimeInMillis: () => 10_000,
};

/** @returns the response's body. @throws if the status is unexpected */
export const send = async (handlers: Handlers, name: Measured, event: Request): Promise<unknown> => {
  const { statusCode, body } = await handlers[name](event, CONTEXT);
  if (statusCode !== STATUSES[name]) throw new Error(`${name}: ${statusCode} ${String(body)}`);
  return body;
};
