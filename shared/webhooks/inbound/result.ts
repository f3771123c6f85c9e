/** What became of a provider's event about a record that is no payment. */
export type EventResult =
  | { readonly kind: 'applied' | 'ignored' | 'quarantined'; readonly reason: string; readonly owner: OwnerIds }
  | { readonly kind: 'early' };

export interface OwnerIds {
  readonly userId?: string | undefined;
  readonly organizationId?: string | undefined;
}
