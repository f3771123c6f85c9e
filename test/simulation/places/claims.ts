/**
 * @module The writes of users' requests to claim their acts at a provider, each with the true time of the table's
 * write. A function's clock is inaccurate, and its claim may be written much later than dated. So only the table knows
 * the order.
 */
import { currentWork } from '../../../shared/core/actor.ts';
import type { Item, TransactionStep } from '../../../shared/platform/connection.ts';
import { currentInvocation } from '../kernel/invocation.ts';
import { actingPerson } from '../model/acting.ts';
import type { HistoryClaim } from '../model/history.ts';

export interface Claims {
  readonly all: readonly HistoryClaim[];
  /**
   * Must be called in the writing function, which identifies the user. @returns the work that the table must execute
   * instead of `run`
   */
  noting<T extends { readonly ok: boolean }>(
    steps: readonly TransactionStep[],
    run: () => Promise<T>,
  ): () => Promise<T>;
}

export const createClaims = (now: () => number): Claims => {
  const all: HistoryClaim[] = [];
  const seen = new Set<string>();
  return {
    all,
    noting: (steps, run) => {
      const [actor, functionId] = [actingPerson(currentWork()?.actor), currentInvocation()?.functionId ?? ''];
      return async () => {
        const written = await run();
        if (!written.ok) return written;
        for (const { name, ...claim } of steps.flatMap(claimOf)) {
          if (seen.has(name)) continue;
          seen.add(name);
          if (actor?.type === 'user' && isOf(claim, functionId)) all.push({ ...claim, at: now(), userId: actor.id });
        }
        return written;
      };
    },
  };
};

/** True unless a paid payment saves its method, because that write is no claim. */
const isOf = ({ what }: Pick<HistoryClaim, 'what'>, functionId: string): boolean =>
  what !== 'a method' || functionId === 'payment-methods.create';

/** A claim with a name to recognize later writes of the same attempt or record. */
type Named = Omit<HistoryClaim, 'at' | 'userId'> & { readonly name: string };

const claimOf = (step: TransactionStep): readonly Named[] => {
  if ('put' in step) return claimOfPut(step.put);
  if (!('update' in step) || !step.changes.set || !('draft' in step.changes.set)) return [];
  const { draftVersion } = step.changes.set;
  const id = idOf(step.update);
  return [{ what: 'an amount', id, organizationId: undefined, name: `${id} draft ${draftVersion}` }];
};

const claimOfPut = (item: Item): readonly Named[] => {
  const [id, organizationId] = [idOf(item), text(item['organizationId'])];
  switch (item['sk']) {
    case 'PAY':
      return item['cause'] === 'claim'
        ? [{ what: 'an attempt', id, organizationId, name: `${id} attempt ${item['attempt']}` }]
        : [];
    case 'PM':
      return [{ what: 'a method', id, organizationId, name: id }];
    case 'SUB':
      return [{ what: 'a subscription', id, organizationId, name: id }];
    default:
      return [];
  }
};

const idOf = ({ pk }: Item | { readonly pk: string }): string => String(pk).split('#')[1] ?? '';

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
