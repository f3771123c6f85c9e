import type { ProviderRecordDeps } from '../customers/deps.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { done } from '../providers/done.ts';
import { aliasRemoval } from '../table/alias.ts';
import { succession } from '../table/defaults.ts';
import { recordStore } from '../table/record-store.ts';
import { slotOf } from './defaults.ts';
import { type PaymentMethod, paymentMethodShape } from './payment-method.ts';

type RemoveDeps = Pick<ProviderRecordDeps, 'table' | 'now' | 'providers'>;

export const deleteMethod = async (
  deps: RemoveDeps,
  { record }: ApiRequest<unknown, unknown, unknown, PaymentMethod>,
): Promise<Reply> => {
  await removeMethod(deps, record, { atProvider: true });
  return { data: undefined };
};

/** Detached at the provider first, then removed here; the newest remaining method takes over as default. */
export const removeMethod = async (
  deps: RemoveDeps,
  method: PaymentMethod,
  { atProvider }: { readonly atProvider: boolean },
): Promise<void> => {
  if (atProvider) {
    const provider = await deps.providers.having(method.providerId, 'methods');
    done(await provider.detachMethod(method.providerMethodId), 'id');
  }
  const store = recordStore(deps.table, deps.now, paymentMethodShape);
  const alias = aliasRemoval(method.providerId, method.providerMethodId);
  const moved = await succession(deps.table, slotOf(method), method.id);
  // Where another default was set meanwhile, there is none to pass on.
  if (!(await store.remove(method, [alias, ...moved]))) await store.remove(method, [alias]);
};
