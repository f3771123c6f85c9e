/** @module Valid default bodies of POST /addresses; a test overrides only relevant fields. */
type Fields = Readonly<Record<string, unknown>>;

export const partialAddress = (fields: Fields = {}): Fields => ({ country: 'US', is_partial: true, ...fields });

export const fullAddress = (fields: Fields = {}): Fields => ({
  country: 'US',
  line1: '1 Main St',
  city: 'Boston',
  postal_code: '02108',
  name: 'Ada Lovelace',
  ...fields,
});

export const businessAddress = (fields: Fields = {}): Fields => ({
  country: 'DE',
  is_business: true,
  business_name: 'Engines GmbH',
  ...fields,
});
