/** Bodies of POST /subscriptions: valid, with only what matters to the test beside it. */
type Fields = Readonly<Record<string, unknown>>;

export const subscriptionBody = (fields: Fields = {}): Fields => ({
  total_cents: 1_900,
  currency: 'USD',
  billing_interval: 'monthly',
  ...fields,
});
