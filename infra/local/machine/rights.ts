import { AsyncLocalStorage } from 'node:async_hooks';
import { type Right, TABLE_ACTIONS } from '../../../shared/core/rights.ts';
import type { FunctionRights } from '../../../shared/host.ts';
import type { Trigger } from '../../../shared/platform/trigger.ts';

/**
 * The rights of functions on one machine. Every request of a function to the table, a queue or the bus is checked
 * against the rights that the catalogue declares for it, as AWS checks its role. A test that needs a missing right
 * therefore fails.
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
  /** Called for each refused request, because a function may catch the error. */
  readonly log: (line: string) => void;
}

export const createRights = ({ endpoints, triggers, log }: RightsOptions): Rights => {
  const functions = new Map<string, Running>([
    ...endpoints.map(({ id, uses }) => [id, running(id, uses)] as const),
    ...triggers.map((trigger) => [trigger.id, running(trigger.id, trigger.uses, sourceActions(trigger))] as const),
  ]);
  const storage = new AsyncLocalStorage<Running>();
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
  };
};

const running = (id: string, uses: readonly Right[], more: readonly string[] = []): Running => ({
  id,
  uses,
  actions: new Set([...uses.flatMap(actionsGranted), ...more]),
});

const SEND = 'queue:send:';
const DEPTH = 'queue:depth:';

const actionsGranted = (right: Right): readonly string[] => {
  if (right === 'table:read' || right === 'table:put' || right === 'table:delete' || right === 'table:scan') {
    return TABLE_ACTIONS[right];
  }
  if (right === 'table:count') return ['dynamodb:UpdateItem'];
  if (right === 'events:put') return ['events:PutEvents'];
  if (right.startsWith(DEPTH)) return [`sqs:GetQueueAttributes on ${right.slice(DEPTH.length)}`];
  return right.startsWith(SEND) ? [`sqs:SendMessage on ${right.slice(SEND.length)}`] : [];
};

/** A function may change the visibility of messages of its own queue. */
const sourceActions = (trigger: Trigger): readonly string[] =>
  trigger.kind === 'queue' ? [`sqs:ChangeMessageVisibility on ${trigger.queue}`] : [];
