import { DomainError } from '../core/errors.ts';

/**
 * What a subscription may use beside what its caller owns: an organization's records only in that organization. Whether
 * they are the caller's to name at all is decided before.
 */
export const requireSameOwner = (
  record: { readonly organizationId?: string | undefined },
  organizationId: string | undefined,
): void => {
  if (record.organizationId === undefined || record.organizationId === organizationId) return;
  throw new DomainError('ORGANIZATION_ACCESS_DENIED', { message: 'It belongs to another organization' });
};
