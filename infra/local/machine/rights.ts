import { AsyncLocalStorage } from 'node:async_hooks';
import * as z from 'zod';
import { type Right, TABLE_ACTIONS } from '../../../shared/core/rights.ts';
import type { Trigger } from '../../../shared/messaging/trigger.ts';
import type { FunctionRights } from '../../../shared/runtime.ts';
import type { LocalResponse } from './answer.ts';

/**
 * The rights of functions on one machine. Every request of a function to the table, a queue or the bus is checked against
 * the rights that the catalogue declares for it, as AWS checks its role: a test that reaches a missing right fails.
 */
export interface Rights extends FunctionRights {
  /** Does the work under the rights of this function. */
  readonly as: <T>(id: string, work: () => T) => T;
  /** @throws AccessDeniedException unless the running function may do all of these */
  readonly require: (actions: readonly string[]) => void;
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
  /** Answers the requests of AWS clients to the bus and the queues of this host, without a connection to itself. */
  readonly answer: (target: string, input: unknown) => Promise<LocalResponse>;
  /** Called for each refused request, because a function may catch the error. */
  readonly log: (line: string) => void;
  /** Sends the requests that pass, in place of `answer`. */
  readonly requestHandler?: FunctionRights['requestHandler'] | undefined;
}

export const createRights = ({ endpoints, triggers, answer, log, requestHandler }: RightsOptions): Rights => {
  const functions = new Map<string, Running>([
    ...endpoints.map(({ id, uses }) => [id, running(id, uses)] as const),
    ...triggers.map((trigger) => [trigger.id, running(trigger.id, trigger.uses, sourceActions(trigger))] as const),
  ]);
  const storage = new AsyncLocalStorage<Running>();
  /** What a request causes is not the work of the function that sends it: it has neither its rights nor its actor. */
  const outside = AsyncLocalStorage.snapshot();
  const require = (actions: readonly string[]): void => {
    const current = storage.getStore();
    const missing = current && actions.find((action) => !current.actions.has(action));
    if (missing === undefined) return;
    const message = `${current?.id} declares no right for ${missing}`;
    log(message);
    throw Object.assign(new Error(message), { name: 'AccessDeniedException' });
  };
  return {
    as: (id, work) => storage.run(functions.get(id) ?? running(id, []), work),
    holds: (right) => storage.getStore()?.uses.includes(right) ?? true,
    require,
    requestHandler: {
      handle: async (request, options) => {
        const target = request.headers['x-amz-target'] ?? '';
        const input = inputOf(request.body);
        require(actionsOf(target, input));
        if (requestHandler) return requestHandler.handle(request, options);
        // The answer comes in a later turn, as over a network.
        await new Promise((resolve) => setImmediate(resolve));
        const answered = await outside(answer, target, input);
        const response = { statusCode: answered.status, headers: { ...answered.headers } };
        return { response: { ...response, body: Buffer.from(answered.body) } };
      },
    },
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

const queueSchema = z.object({ QueueUrl: z.string() });

/** The IAM actions that AWS requires for a request to the bus or a queue; the table's are checked by its connection. */
const actionsOf = (target: string, input: unknown): readonly string[] => {
  const [service = '', operation = ''] = target.split('.');
  if (service !== 'AmazonSQS') return [`events:${operation}`];
  const queue = queueSchema.parse(input).QueueUrl.split('/').at(-1);
  return [`sqs:${operation.replace(/Batch$/, '')} on ${queue}`];
};

/** The SDK's bodies warn when they are used like a text. */
const inputOf = (body: unknown): unknown =>
  JSON.parse(body instanceof Uint8Array ? new TextDecoder().decode(body) : String(body ?? '{}'));
