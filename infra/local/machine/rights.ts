import { AsyncLocalStorage } from 'node:async_hooks';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import { type Right, TABLE_ACTIONS } from '../../../shared/core/rights.ts';
import type { Trigger } from '../../../shared/messaging/trigger.ts';
import type { FunctionRights } from '../../../shared/runtime.ts';
import { REGION } from './environment.ts';

/**
 * The rights of functions on one machine. Every request of a function to the table, a queue or the bus is checked against
 * the rights that the catalogue declares for it, as AWS checks its role: a test that reaches a missing right fails.
 */
export interface Rights extends FunctionRights {
  /** Does the work under the rights of this function. */
  readonly as: <T>(id: string, work: () => T) => T;
  readonly close: () => void;
}

export interface DeclaredFunction {
  readonly id: string;
  readonly uses: readonly Right[];
}

interface Running {
  readonly id: string;
  readonly uses: readonly Right[];
  readonly actions: ReadonlySet<string>;
}

export interface RightsOptions {
  readonly endpoints: readonly DeclaredFunction[];
  readonly triggers: readonly Trigger[];
  /** Called for each refused request, because a function may catch the error. */
  readonly log: (line: string) => void;
}

export const createRights = ({ endpoints, triggers, log }: RightsOptions): Rights => {
  const functions = new Map<string, Running>([
    ...endpoints.map(({ id, uses }) => [id, running(id, uses)] as const),
    ...triggers.map((trigger) => [trigger.id, running(trigger.id, trigger.uses, sourceActions(trigger))] as const),
  ]);
  const storage = new AsyncLocalStorage<Running>();
  const { requestHandler } = new DynamoDBClient({ region: REGION }).config;
  const check = (request: AwsRequest): void => {
    const current = storage.getStore();
    const missing = current && actionsOf(request).find((action) => !current.actions.has(action));
    if (missing === undefined) return;
    const message = `${current?.id} declares no right for ${missing}`;
    log(message);
    throw Object.assign(new Error(message), { name: 'AccessDeniedException' });
  };
  return {
    as: (id, work) => storage.run(functions.get(id) ?? running(id, []), work),
    holds: (right) => storage.getStore()?.uses.includes(right) ?? true,
    requestHandler: {
      handle: async (request, options) => {
        check(request);
        return requestHandler.handle(request, options);
      },
    },
    close: () => requestHandler.destroy?.(),
  };
};

const running = (id: string, uses: readonly Right[], more: readonly string[] = []): Running => ({
  id,
  uses,
  actions: new Set([...uses.flatMap(actionsGranted), ...more]),
});

const SEND = 'queue:send:';

const actionsGranted = (right: Right): readonly string[] => {
  if (right === 'table:read' || right === 'table:put' || right === 'table:delete' || right === 'table:scan') {
    return TABLE_ACTIONS[right];
  }
  if (right === 'events:put') return ['events:PutEvents'];
  return right.startsWith(SEND) ? [`sqs:SendMessage on ${right.slice(SEND.length)}`] : [];
};

/** A function may defer the messages of its own queue. */
const sourceActions = (trigger: Trigger): readonly string[] =>
  trigger.kind === 'queue' ? [`sqs:ChangeMessageVisibility on ${trigger.queue}`] : [];

interface AwsRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const transactionSchema = z.object({ TransactItems: z.array(z.record(z.string(), z.unknown())) });
const queueSchema = z.object({ QueueUrl: z.string() });

const STEP_ACTIONS: Readonly<Record<string, string>> = {
  Put: 'dynamodb:PutItem',
  Update: 'dynamodb:UpdateItem',
  Delete: 'dynamodb:DeleteItem',
  ConditionCheck: 'dynamodb:ConditionCheckItem',
};

/** The IAM actions that AWS requires for the request. */
const actionsOf = ({ headers, body }: AwsRequest): readonly string[] => {
  const [service = '', operation = ''] = (headers['x-amz-target'] ?? '').split('.');
  if (service === 'AWSEvents') return [`events:${operation}`];
  if (service === 'AmazonSQS') {
    const queue = queueSchema.parse(jsonOf(body)).QueueUrl.split('/').at(-1);
    return [`sqs:${operation.replace(/Batch$/, '')} on ${queue}`];
  }
  if (operation !== 'TransactWriteItems') return [`dynamodb:${operation}`];
  const { TransactItems } = transactionSchema.parse(jsonOf(body));
  return TransactItems.flatMap((step) => Object.keys(step)).map((kind) => STEP_ACTIONS[kind] ?? `dynamodb:${kind}`);
};

const jsonOf = (body: unknown): unknown =>
  JSON.parse(body instanceof Uint8Array ? new TextDecoder().decode(body) : String(body));
