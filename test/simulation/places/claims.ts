import { currentWork } from '../../../shared/core/actor.ts';
import type { Item, TransactionStep } from '../../../shared/platform/connection.ts';
import { currentInvocation } from '../kernel/invocation.ts';
import { actingPerson } from '../model/acting.ts';
import type { HistoryClaim } from '../model/history.ts';

/**
 * @module The writes by which requests of users claim their acts at a provider, each with the true time at which the
 * table carried it out. The clock of a function is off, and a claim that it dates may be written much later, so only
 * the table can tell what came first.
 */
export interface Claims {
  readonly all: readonly HistoryClaim[];
  /**
   * Call it in the function that writes, which identifies the user. @returns the work that the table carries out in
   * place of `run`
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

/** A payment saves its method when it has been paid, which is no claim. */
const isOf = ({ what }: Pick<HistoryClaim, 'what'>, functionId: string): boolean =>
  what !== 'a method' || functionId === 'payment-methods.create';

/** Later writes of a claimed attempt, and of a record that is there, have the same name. */
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
