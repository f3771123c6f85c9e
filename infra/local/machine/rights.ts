import { AsyncLocalStorage } from 'node:async_hooks';
import { DENIED_ON_KEYS, isKeyedRight, KEYED_ACTIONS, type Right, TABLE_ACTIONS } from '../../../shared/core/rights.ts';
import type { FunctionRights } from '../../../shared/host.ts';
import type { Trigger } from '../../../shared/platform/trigger.ts';

/**
 * Checks the rights of functions. Every request to the table, a queue or the bus must be covered by the function's
 * declared rights, as AWS checks a role. So tests fail if a right is missing.
 */
export interface Rights extends FunctionRights {
  /** Runs the work with the rights of this function. */
  readonly as: <T>(id: string, work: () => T) => T;
  /** @throws AccessDeniedException unless the running function has all these rights */
  readonly require: (accesses: readonly Access[]) => void;
}

/** An IAM action. For a table item, also the item's partition key. */
export interface Access {
  readonly action: string;
  readonly partition?: string;
}

export interface DeclaredFunction {
  readonly id: string;
  readonly uses: readonly Right[];
}

interface Running {
  readonly id: string;
  readonly uses: readonly Right[];
  readonly actions: ReadonlySet<string>;
  /** Actions on items with matching partition keys. */
  readonly keyed: readonly Keyed[];
  readonly denied: readonly Keyed[];
}

type Keyed = typeof DENIED_ON_KEYS;

export interface RightsOptions {
  readonly endpoints: readonly DeclaredFunction[];
  readonly triggers: readonly Trigger[];
  /** Logs each refused request, because the function may catch the error. */
  readonly log: (line: string) => void;
}

export const createRights = ({ endpoints, triggers, log }: RightsOptions): Rights => {
  const functions = new Map<string, Running>([
    ...endpoints.map(({ id, uses }) => [id, running(id, uses)] as const),
    ...triggers.map((trigger) => [trigger.id, running(trigger.id, trigger.uses, sourceActions(trigger))] as const),
  ]);
  const storage = new AsyncLocalStorage<Running>();
  const require = (accesses: readonly Access[]): void => {
    const current = storage.getStore();
    const missing = current && accesses.find((access) => !mayDo(current, access));
    if (current === undefined || missing === undefined) return;
    const message = `${current.id} declares no right for ${missing.action}${placeOf(current, missing)}`;
    log(message);
    throw Object.assign(new Error(message), { name: 'AccessDeniedException' });
  };
  return {
    as: (id, work) => storage.run(functions.get(id) ?? running(id, []), work),
    holds: (right) => storage.getStore()?.uses.includes(right) ?? true,
    require,
  };
};

/** A denial overrides all other rights, as in IAM. */
const mayDo = ({ actions, keyed, denied }: Running, access: Access): boolean =>
  !denied.some((one) => covers(one, access)) &&
  (actions.has(access.action) || keyed.some((one) => covers(one, access)));

const covers = ({ actions, keys }: Keyed, { action, partition }: Access): boolean =>
  partition !== undefined && actions.includes(action) && keys.some((key) => partition.startsWith(key.slice(0, -1)));

/** The kind of item, such as ` on PAY#*`, if the function may perform the action on other kinds; else empty. */
const placeOf = ({ actions, keyed }: Running, { action, partition = '' }: Access): string =>
  actions.has(action) || keyed.some((one) => one.actions.includes(action)) ? ` on ${partition.split('#')[0]}#*` : '';

const running = (id: string, uses: readonly Right[], more: readonly string[] = []): Running => ({
  id,
  uses,
  actions: new Set([...uses.flatMap(actionsGranted), ...more]),
  keyed: uses.filter(isKeyedRight).map((right) => KEYED_ACTIONS[right]),
  denied: uses.includes('table:keys') ? [] : [DENIED_ON_KEYS],
});

const SEND = 'queue:send:';
const DEPTH = 'queue:depth:';

const actionsGranted = (right: Right): readonly string[] => {
  if (right === 'table:read' || right === 'table:put' || right === 'table:delete' || right === 'table:scan') {
    return TABLE_ACTIONS[right];
  }
  if (isKeyedRight(right)) return [];
  if (right === 'events:put') return ['events:PutEvents'];
  if (right.startsWith(DEPTH)) return [`sqs:GetQueueAttributes on ${right.slice(DEPTH.length)}`];
  return right.startsWith(SEND) ? [`sqs:SendMessage on ${right.slice(SEND.length)}`] : [];
};

/** A function may change the visibility of messages in its own queue. */
const sourceActions = (trigger: Trigger): readonly string[] =>
  trigger.kind === 'queue' ? [`sqs:ChangeMessageVisibility on ${trigger.queue}`] : [];
