/** @module Valid default bodies of PUT /admin/{kind}/{id}; a test overrides only relevant fields. */
type Fields = Readonly<Record<string, unknown>>;

export const productBody = (fields: Fields = {}): Fields => ({
  name: 'Course',
  total_cents: 4_900,
  currency: 'EUR',
  ...fields,
});

export const projectBody = (fields: Fields = {}): Fields => ({ name: 'Garden', slug: 'garden', ...fields });

export const tierBody = (fields: Fields = {}): Fields => ({
  name: 'Gold',
  slug: 'gold',
  entity_type: 'user',
  ...fields,
});

export const inviteBody = (fields: Fields = {}): Fields => ({
  project_id: 'garden',
  inviter_name: 'Ada',
  role: 'editor',
  email: 'grace@example.com',
  expires_at: '2099-01-01T00:00:00.000Z',
  ...fields,
});

export const discountBody = (fields: Fields = {}): Fields => ({ name: 'Spring', percent_bp: 2_500, ...fields });
